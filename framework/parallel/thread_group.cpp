// SPDX-License-Identifier: Apache-2.0
#include "parallel/thread_group.hpp"

#include <algorithm>
#include <string>

#include "parallel/meeting.hpp"
#include "parallel/time_limit.hpp"
#include "redline/error.hpp"

namespace redline::parallel {
namespace {

constexpr std::int64_t kLine = 16;  // floats: ranks write whole cache lines

class ThreadRank final : public Communicator {
 public:
  ThreadRank(Fault& fault, std::span<const std::unique_ptr<Meeting>> meetings, int rank, int size)
      : fault_(fault), meetings_(meetings), meeting_(*meetings[size - 1]), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return meeting_.ranks(); }

  // Each rank sums a slice of all and writes it to all.
  void all_reduce(std::span<float> values) override {
    meeting_.arrive(rank_, "all_reduce", Patience::LIMIT, note(std::as_bytes(values)));
    const auto count = static_cast<std::int64_t>(values.size());
    const std::int64_t lines = (count + kLine - 1) / kLine;
    const std::int64_t begin = std::min(count, lines * rank_ / size() * kLine);
    const std::int64_t end = std::min(count, lines * (rank_ + 1) / size() * kLine);
    float* const sums = values_of(0, count);
    for (int rank = 1; rank < size(); ++rank) {
      const float* const more = values_of(rank, count);
      for (std::int64_t i = begin; i < end; ++i) sums[i] += more[i];
    }
    for (int rank = 1; rank < size(); ++rank)
      std::copy(sums + begin, sums + end, values_of(rank, count) + begin);
    meeting_.arrive(rank_, "the end of all_reduce", Patience::LIMIT);
  }

  void gather(std::span<const float> mine, std::span<const std::int64_t> counts,
              std::span<float> all, int root) override {
    check_parts(mine.size(), counts, all.size(), rank_, root);
    meeting_.arrive(rank_, "gather", Patience::LIMIT, note(std::as_bytes(mine)));
    if (rank_ == root) {
      float* to = all.data();
      for (int rank = 0; rank < size(); to += counts[rank++])
        std::copy_n(values_of(rank, counts[rank]), counts[rank], to);
    }
    meeting_.arrive(rank_, "the end of gather", Patience::LIMIT);
  }

  void broadcast(std::vector<std::byte>& message, int root, Patience patience) override {
    if (rank_ == root) kept_[turn_ ^= 1] = message;
    meeting_.arrive(rank_, "broadcast", patience, rank_ == root ? note(kept_[turn_]) : Note{});
    const Note& from = meeting_.note_of(root);
    if (rank_ != root) message.assign(from.data, from.data + from.bytes);
  }

  void barrier(Patience patience) override { meeting_.arrive(rank_, "a barrier", patience); }

  std::unique_ptr<Communicator> first(int ranks) override {
    if (rank_ >= ranks) return nullptr;
    return std::make_unique<ThreadRank>(fault_, meetings_, rank_, ranks);
  }

  void fail(std::string_view why) noexcept override { fault_.set(failed_text(rank_, why)); }

 private:
  static Note note(std::span<const std::byte> bytes) { return {bytes.data(), bytes.size()}; }
  float* values_of(int rank, std::int64_t count) const {
    const Note& from = meeting_.note_of(rank);
    if (from.bytes != static_cast<std::size_t>(count) * sizeof(float))
      throw Error("rank " + std::to_string(rank) + " brings " + std::to_string(from.bytes / 4) +
                  " values, rank " + std::to_string(rank_) + " expects " + std::to_string(count));
    return const_cast<float*>(reinterpret_cast<const float*>(from.data));
  }

  Fault& fault_;
  std::span<const std::unique_ptr<Meeting>> meetings_;
  Meeting& meeting_;
  int rank_;
  std::vector<std::byte> kept_[2];  // messages of the last broadcasts: slow ranks may still read
  int turn_ = 0;
};

}  // namespace

struct ThreadGroup::Impl {
  explicit Impl(int size) : fault(size) {}
  Fault fault;
  std::vector<std::unique_ptr<Meeting>> meetings;  // [size - 1] of the first `size` ranks
  std::vector<std::unique_ptr<ThreadRank>> ranks;
};

ThreadGroup::ThreadGroup(int ranks, std::chrono::milliseconds limit)
    : impl_(std::make_unique<Impl>(ranks)) {
  for (int size = 1; size <= ranks; ++size)
    impl_->meetings.push_back(std::make_unique<Meeting>(impl_->fault, size, limit));
  for (int rank = 0; rank < ranks; ++rank)
    impl_->ranks.push_back(
        std::make_unique<ThreadRank>(impl_->fault, impl_->meetings, rank, ranks));
}
ThreadGroup::~ThreadGroup() = default;

Communicator& ThreadGroup::at(int rank) { return *impl_->ranks[rank]; }

}  // namespace redline::parallel
