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
  explicit Impl(int threads) : may_spin(threads <= cores()), shares(threads) {
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

  // Its own share first, then what others have left.
  void work(int worker) {
    const auto threads = static_cast<int>(shares.size());
    try {
      for (int i = 0; i < threads; ++i) {
        Share& share = shares[(worker + i) % threads];
        for (std::int64_t task; (task = share.take()) < share.end;) body(context, task, worker);
      }
    } catch (...) {
      for (Share& share : shares) share.next.store(share.end, std::memory_order_relaxed);
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }

  void run(std::int64_t count, Body function, void* data) {
    if (count <= 1 || helpers.empty()) {  // wakes nobody
      for (std::int64_t task = 0; task < count; ++task) function(data, task, 0);
      return;
    }
    body = function, context = data;
    share_out(count);
    busy.store(static_cast<int>(helpers.size()), std::memory_order_relaxed);
    round.fetch_add(1, std::memory_order_release);
    round.notify_all();
    work(0);
    for (int left; (left = busy.load(std::memory_order_acquire)) > 0;)
      wait_for_change(busy, left, may_spin);
    if (failed.exchange(false)) std::rethrow_exception(std::exchange(failure, nullptr));
  }

  // Neighbouring tasks, the same ones of as many each time: what a thread wrote in one run it finds
  // in its own cache in the next, and its tasks read one stream of memory.
  void share_out(std::int64_t count) {
    const auto threads = static_cast<std::int64_t>(shares.size());
    for (std::int64_t i = 0, begin = 0; i < threads; ++i) {
      shares[i].next.store(begin, std::memory_order_relaxed);
      shares[i].end = begin = (count * (i + 1) + threads - 1) / threads;
    }
  }
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
    std::int64_t take() { return next.fetch_add(1, std::memory_order_relaxed); }
  };

  const bool may_spin;
  Body body = nullptr;
  void* context = nullptr;
  std::exception_ptr failure;  // the first one of a run
  std::atomic<bool> failed{false}, stopping{false};
  std::vector<Share> shares;              // of the run, one a thread
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
