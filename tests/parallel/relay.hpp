// SPDX-License-Identifier: Apache-2.0
// A communicator that passes everything on, for tests to change what they want to.
#pragma once
#include <memory>

#include "parallel/communicator.hpp"

namespace redline::tests {

// Passes everything on, but for what a test puts in the way.
class Relay : public parallel::Communicator {
 public:
  explicit Relay(std::unique_ptr<parallel::Communicator> to) : to_(std::move(to)) {}
  int rank() const override { return to_->rank(); }
  int size() const override { return to_->size(); }
  void all_reduce(std::span<float> values) override { to_->all_reduce(values); }
  void gather(std::span<const float> mine, std::span<const std::int64_t> counts,
              std::span<float> all, int root) override {
    to_->gather(mine, counts, all, root);
  }
  void broadcast(std::vector<std::byte>& message, int root, parallel::Patience patience) override {
    to_->broadcast(message, root, patience);
  }
  void barrier(parallel::Patience patience) override { to_->barrier(patience); }
  std::unique_ptr<parallel::Communicator> first(int ranks) override { return to_->first(ranks); }
  void fail(std::string_view why) noexcept override { to_->fail(why); }

 protected:
  std::unique_ptr<parallel::Communicator> to_;
};

}  // namespace redline::tests
