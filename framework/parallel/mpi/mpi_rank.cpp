// SPDX-License-Identifier: Apache-2.0
// The collectives over messages: a sum gathers all values on every rank and adds them in rank
// order.
#include <algorithm>

#include "parallel/mpi/mpi_link.hpp"
#include "parallel/mpi_library.hpp"

namespace redline::parallel {
namespace {

class MpiRank final : public Communicator {
 public:
  MpiRank(std::shared_ptr<MpiLink> link, int size) : link_(std::move(link)), size_(size) {}

  int rank() const override { return link_->rank(); }
  int size() const override { return size_; }

  void all_reduce(std::span<float> values) override {
    const std::size_t count = values.size();
    others_.resize(count * static_cast<std::size_t>(size_));
    for_others(
        [&](int other) { link_->receive(std::as_writable_bytes(values_of(other, count)), other); });
    for_others([&](int other) { link_->send(std::as_bytes(values), other); });
    link_->wait("all_reduce", Patience::LIMIT);
    std::copy(values.begin(), values.end(), values_of(rank(), count).begin());
    const auto first = values_of(0, count);
    std::copy(first.begin(), first.end(), values.begin());
    for (int other = 1; other < size_; ++other) {
      const auto more = values_of(other, count);
      for (std::size_t i = 0; i < count; ++i) values[i] += more[i];
    }
  }

  void gather(std::span<const float> mine, std::span<const std::int64_t> counts,
              std::span<float> all, int root) override {
    check_parts(mine.size(), counts, all.size(), rank(), root);
    if (rank() != root) {
      link_->send(std::as_bytes(mine), root);
    } else {
      std::size_t at = 0;
      for (int from = 0; from < size_; ++from) {
        const auto part = all.subspan(at, static_cast<std::size_t>(counts[from]));
        at += part.size();
        if (from == root)
          std::copy(mine.begin(), mine.end(), part.begin());
        else
          link_->receive(std::as_writable_bytes(part), from);
      }
    }
    link_->wait("gather", Patience::LIMIT);
  }

  void broadcast(std::vector<std::byte>& message, int root, Patience patience) override {
    if (rank() != root) {
      message = link_->receive_any_size(root, "broadcast", patience);
      return;
    }
    for_others([&](int other) { link_->send(message, other); });
    link_->wait("broadcast", patience);
  }

  void barrier(Patience patience) override {
    for_others([&](int other) { link_->receive({}, other), link_->send({}, other); });
    link_->wait("a barrier", patience);
  }

  std::unique_ptr<Communicator> first(int ranks) override {
    if (rank() >= ranks) return nullptr;
    return std::make_unique<MpiRank>(link_, ranks);
  }

  void fail(std::string_view why) noexcept override { link_->fail(why); }

 private:
  template <class Body>
  void for_others(Body body) {
    for (int other = 0; other < size_; ++other)
      if (other != rank()) body(other);
  }
  std::span<float> values_of(int rank, std::size_t count) {
    return std::span(others_).subspan(static_cast<std::size_t>(rank) * count, count);
  }

  std::shared_ptr<MpiLink> link_;
  int size_;
  std::vector<float> others_;  // [ranks, values] of a sum
};

}  // namespace
}  // namespace redline::parallel

extern "C" __attribute__((visibility("default"))) redline::parallel::Communicator* redline_mpi_open(
    std::int64_t limit_ms) {
  using redline::parallel::MpiLink;
  const auto link = std::make_shared<MpiLink>(std::chrono::milliseconds(limit_ms));
  return new redline::parallel::MpiRank(
      link, link->size());  // the caller's, who cannot take a smart pointer in C
}
