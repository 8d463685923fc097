// SPDX-License-Identifier: Apache-2.0
#include "trace/record_queue.hpp"

#include <catch2/catch.hpp>
#include <thread>

using redline::trace::RecordQueue;
using namespace std::chrono_literals;

namespace {
auto soon() { return std::chrono::steady_clock::now() + 10s; }
}  // namespace

TEST_CASE("A producer waits for room, and the wait is counted") {
  RecordQueue<int> queue(10);
  queue.push(1, 6);
  std::thread producer([&] { queue.push(2, 6); });
  while (queue.blocked() == 0) std::this_thread::yield();
  CHECK(queue.pop(soon()) == 1);
  producer.join();
  CHECK(queue.pop(soon()) == 2);
  CHECK(queue.blocked() == 1);
}

TEST_CASE("An item larger than the bound passes when it is alone") {
  RecordQueue<int> queue(10);
  queue.push(1, 1000);
  CHECK(queue.pop(soon()) == 1);
  CHECK(queue.blocked() == 0);
}

TEST_CASE("A closed queue gives what is left, then nothing") {
  RecordQueue<int> queue(10);
  queue.push(1, 1);
  queue.close();
  CHECK_FALSE(queue.drained());
  CHECK(queue.pop(soon()) == 1);
  CHECK(queue.drained());
  CHECK(queue.pop(soon()) == std::nullopt);
}

TEST_CASE("A deadline passes without an item") {
  RecordQueue<int> queue(10);
  CHECK(queue.pop(std::chrono::steady_clock::now()) == std::nullopt);
}
