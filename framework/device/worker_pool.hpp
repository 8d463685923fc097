// SPDX-License-Identifier: Apache-2.0
// The threads of one rank. run() hands out tasks 0..n-1 and returns when all are done; the caller
// works too. Each thread has a share of neighbouring tasks, then takes what others have left.
// Waiting spins briefly, then sleeps on a futex, and never spins when threads exceed cores. No
// allocation after construction.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace redline::device {

class WorkerPool {
 public:
  explicit WorkerPool(int threads);  // 0: one a core
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;  // threads hold its address
  int threads() const;

  template <class F>  // F(std::int64_t task, int worker)
  void run(std::int64_t tasks, F&& f) {
    run(tasks, &call<std::remove_reference_t<F>>, &f);
  }

 private:
  using Body = void (*)(void* context, std::int64_t task, int worker);
  template <class F>
  static void call(void* context, std::int64_t task, int worker) {
    (*static_cast<F*>(context))(task, worker);
  }
  void run(std::int64_t tasks, Body body, void* context);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::device
