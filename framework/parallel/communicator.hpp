// SPDX-License-Identifier: Apache-2.0
// Ranks of one tensor-parallel group. Sums run in rank order, so that every rank holds equal bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace redline::parallel {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void all_reduce(std::span<float> values) = 0;  // sum in rank order
  virtual void all_gather(std::span<const float> mine, std::span<float> all) = 0;  // [size, mine]
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
};

class Solo final : public Communicator {  // one rank: every collective is done before it starts
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce(std::span<float>) override {}
  void all_gather(std::span<const float> mine, std::span<float> all) override;
  void broadcast(std::span<std::byte>, int) override {}
};

}  // namespace redline::parallel
