// SPDX-License-Identifier: Apache-2.0
// Ranks of one tensor-parallel group. Every rank makes the same calls in the same order. Sums run
// in rank order, so that every rank holds equal bits. A rank that fails, dies or keeps the others
// waiting beyond the time limit ends the calls of all of them with a DeviceError that names it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace redline::parallel {

enum class Patience {
  LIMIT,  // the time limit of the group
  LOAD,   // as long as models take to load: kLongLimits time limits
  // For the next order of rank 0, which may be idle: likewise between processes; without end
  // between threads, of which none stands still alone. A failure ends it.
  ORDER,
};
inline constexpr int kLongLimits = 20;

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void all_reduce(std::span<float> values) = 0;  // sum in rank order
  // The ranks' parts, of counts[rank] values, one behind the other into `all` of the root; the
  // others pass none.
  virtual void gather(std::span<const float> mine, std::span<const std::int64_t> counts,
                      std::span<float> all, int root) = 0;
  virtual void broadcast(std::vector<std::byte>& message, int root, Patience patience) = 0;
  virtual void barrier(Patience patience) = 0;
  // Of the first ranks only; null on the others. No longer than this one.
  virtual std::unique_ptr<Communicator> first(int ranks) = 0;
  virtual void fail(std::string_view why) noexcept = 0;  // this rank cannot go on: all end
};

class Solo final : public Communicator {  // one rank: every collective is done before it starts
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce(std::span<float>) override {}
  void gather(std::span<const float> mine, std::span<const std::int64_t> counts,
              std::span<float> all, int root) override;
  void broadcast(std::vector<std::byte>&, int, Patience) override {}
  void barrier(Patience) override {}
  std::unique_ptr<Communicator> first(int) override { return std::make_unique<Solo>(); }
  void fail(std::string_view) noexcept override {}
};

// Of gather(): Error when the sizes do not fit one another.
void check_parts(std::size_t mine, std::span<const std::int64_t> counts, std::size_t all, int rank,
                 int root);

}  // namespace redline::parallel
