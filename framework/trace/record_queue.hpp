// SPDX-License-Identifier: Apache-2.0
// A queue between one producer and one consumer, bounded by bytes: the producer waits while it is
// full, and that is counted. One item larger than the bound passes when it is alone.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "redline/memory.hpp"

namespace redline::trace {

template <class Item>
class RecordQueue {
 public:
  explicit RecordQueue(std::int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  void push(Item item, std::int64_t bytes) {
    std::unique_lock lock(mutex_);
    const auto fits = [&] { return items_.empty() || bytes_ + bytes <= limit_bytes_; };
    if (!fits()) ++blocked_;
    room_.wait(lock, fits);
    bytes_ += bytes;
    items_.push_back({std::move(item), bytes});
    news_.notify_one();
  }
  // Nothing by `deadline`, or closed and empty: no item.
  std::optional<Item> pop(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    news_.wait_until(lock, deadline, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    Entry entry = std::move(items_.front());
    items_.pop_front();
    bytes_ -= entry.bytes;
    room_.notify_one();
    return std::move(entry.item);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    news_.notify_one();
  }
  bool drained() const {
    const std::lock_guard lock(mutex_);
    return closed_ && items_.empty();
  }
  std::uint64_t blocked() const {
    const std::lock_guard lock(mutex_);
    return blocked_;
  }

 private:
  struct Entry {
    Item item;
    std::int64_t bytes;
  };
  mutable std::mutex mutex_;
  std::condition_variable room_, news_;
  std::deque<Entry, Recycling<Entry>> items_;
  std::int64_t limit_bytes_, bytes_ = 0;
  std::uint64_t blocked_ = 0;
  bool closed_ = false;
};

}  // namespace redline::trace
