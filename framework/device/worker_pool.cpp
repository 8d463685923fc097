// SPDX-License-Identifier: Apache-2.0
#include "device/worker_pool.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace redline::device {
namespace {

constexpr std::chrono::microseconds kSpin{50};  // about what a futex wake costs, both ways

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Returns when value is no longer `old`.
void wait_for_change(const std::atomic<int>& value, int old, bool may_spin) {
  if (may_spin) {
    const auto deadline = std::chrono::steady_clock::now() + kSpin;
    do {
      for (int i = 0; i < 32; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        relax();
      }
    } while (std::chrono::steady_clock::now() < deadline);
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

int cores() {
  const unsigned found = std::thread::hardware_concurrency();
  return found ? static_cast<int>(found) : 1;
}

}  // namespace

struct WorkerPool::Impl {
  explicit Impl(int threads) : may_spin(threads <= cores()) {
    helpers.reserve(static_cast<std::size_t>(threads - 1));
    for (int worker = 1; worker < threads; ++worker)
      helpers.emplace_back([this, worker] { serve(worker); });
  }
  ~Impl() {
    stopping = true;
    round.fetch_add(1, std::memory_order_release);
    round.notify_all();
    for (std::thread& helper : helpers) helper.join();
  }

  void serve(int worker) {
    for (int seen = 0;; ++seen) {
      wait_for_change(round, seen, may_spin);
      if (stopping) return;
      work(worker);
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) busy.notify_one();
    }
  }

  void work(int worker) {
    try {
      while (true) {
        const std::int64_t task = next.fetch_add(1, std::memory_order_relaxed);
        if (task >= tasks) return;
        body(context, task, worker);
      }
    } catch (...) {
      next.store(tasks, std::memory_order_relaxed);  // the rest is not started
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }

  void run(std::int64_t count, Body function, void* data) {
    tasks = count, body = function, context = data;
    next.store(0, std::memory_order_relaxed);
    const bool shared = count > 1 && !helpers.empty();
    if (shared) {
      busy.store(static_cast<int>(helpers.size()), std::memory_order_relaxed);
      round.fetch_add(1, std::memory_order_release);
      round.notify_all();
    }
    work(0);
    for (int left; shared && (left = busy.load(std::memory_order_acquire)) > 0;)
      wait_for_change(busy, left, may_spin);
    if (failed.exchange(false)) std::rethrow_exception(std::exchange(failure, nullptr));
  }

  const bool may_spin;
  std::int64_t tasks = 0;
  Body body = nullptr;
  void* context = nullptr;
  std::exception_ptr failure;  // the first one of a run
  std::atomic<bool> failed{false}, stopping{false};
  alignas(64) std::atomic<std::int64_t> next{0};
  alignas(64) std::atomic<int> round{0};  // of run() calls that woke the helpers
  alignas(64) std::atomic<int> busy{0};   // helpers that have not finished the round
  std::vector<std::thread> helpers;       // last: they use what stands above
};

WorkerPool::WorkerPool(int threads)
    : impl_(std::make_unique<Impl>(threads > 0 ? threads : cores())) {}
WorkerPool::~WorkerPool() = default;
int WorkerPool::threads() const { return static_cast<int>(impl_->helpers.size()) + 1; }

void WorkerPool::run(std::int64_t tasks, Body body, void* context) {
  impl_->run(tasks, body, context);
}

}  // namespace redline::device
