// SPDX-License-Identifier: Apache-2.0
#include "device/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace redline::device {

TEST_CASE("a run does each task exactly once before it returns, with valid worker numbers") {
  for (int threads : {1, 2, 3, 8}) {
    WorkerPool pool(threads);
    REQUIRE(pool.threads() == threads);
    for (std::int64_t tasks : {0, 1, 2, 7, 100}) {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<int> done(static_cast<std::size_t>(tasks));  // plain: run() must order it all
        std::atomic<bool> strange{false};
        pool.run(tasks, [&](std::int64_t task, int worker) {
          done[static_cast<std::size_t>(task)] += 1;
          if (worker < 0 || worker >= threads) strange = true;
        });
        REQUIRE(done == std::vector<int>(done.size(), 1));
        REQUIRE(!strange);
      }
    }
  }
}

TEST_CASE("runs in quick and slow succession neither lose nor repeat work") {
  WorkerPool pool(4);
  std::int64_t expected = 0;
  std::atomic<std::int64_t> total{0};
  for (int round = 0; round < 3000; ++round) {
    const std::int64_t tasks = round % 9;
    pool.run(tasks, [&](std::int64_t task, int) { total += task + 1; });
    expected += tasks * (tasks + 1) / 2;
    if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // all asleep
  }
  REQUIRE(total == expected);
}

TEST_CASE("more than one thread takes part when tasks wait for each other") {
  WorkerPool pool(2);
  std::atomic<int> arrived{0};
  pool.run(2, [&](std::int64_t, int) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();  // would hang on one thread
  });
  REQUIRE(arrived == 2);
}

TEST_CASE("threads that are equally fast keep to their shares, run after run") {
  WorkerPool pool(2);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::atomic<int> arrived{0};
    std::vector<int> of_task(10);
    pool.run(10, [&](std::int64_t task, int worker) {
      of_task[static_cast<std::size_t>(task)] = worker;
      for (const int step = arrived++ / 2; arrived < 2 * step + 2;) std::this_thread::yield();
    });
    REQUIRE(of_task == std::vector<int>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1});
  }
}

TEST_CASE("a thread that is held up leaves its share to the others") {
  WorkerPool pool(2);
  for (const std::int64_t slow : {0, 9}) {
    std::atomic<int> done{0};
    pool.run(10, [&](std::int64_t task, int) {
      while (task == slow && done < 9) std::this_thread::yield();  // would hang without
      ++done;
    });
    REQUIRE(done == 10);
  }
}

TEST_CASE("an exception of a task reaches the caller, and the pool stays usable") {
  for (int threads : {1, 3}) {
    WorkerPool pool(threads);
    for (int repeat = 0; repeat < 20; ++repeat)
      REQUIRE_THROWS_AS(pool.run(50,
                                 [](std::int64_t task, int) {
                                   if (task == 20) throw std::runtime_error("task 20");
                                 }),
                        std::runtime_error);
    std::atomic<int> done{0};
    pool.run(10, [&](std::int64_t, int) { ++done; });
    REQUIRE(done == 10);
  }
}

TEST_CASE("zero threads means one a core, and an idle pool ends at once") {
  for (int repeat = 0; repeat < 20; ++repeat) {
    WorkerPool pool(0);
    REQUIRE(pool.threads() == static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  }
}

}  // namespace redline::device
