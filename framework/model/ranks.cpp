// SPDX-License-Identifier: Apache-2.0
#include "model/ranks.hpp"

#include <future>
#include <optional>
#include <thread>

#include "model/follower.hpp"
#include "parallel/thread_group.hpp"

namespace redline::model {
namespace {

class Processes final : public Ranks {
 public:
  explicit Processes(std::unique_ptr<parallel::Communicator> world)
      : world_(std::move(world)), lead_(*world_) {}
  Lead& lead() override { return lead_; }

 private:
  std::unique_ptr<parallel::Communicator> world_;
  Lead lead_;
};

class Threads final : public Ranks {
 public:
  Threads(int ranks, int threads, kernels::Isa isa, std::chrono::milliseconds limit)
      : limit_(limit),
        group_(std::make_shared<parallel::ThreadGroup>(ranks, limit)),
        lead_(std::in_place, group_->at(0)) {
    for (int rank = 1; rank < ranks; ++rank) {
      std::promise<void> ended;
      ended_.push_back(ended.get_future());
      followers_.emplace_back(
          [group = group_, rank, threads, isa, end = std::move(ended)]() mutable {
            follow(group->at(rank), threads, isa);
            end.set_value();
          });
    }
  }

  // A follower that stalls would never be joined: after the time limit it is left to itself, with
  // what it holds.
  ~Threads() override {
    lead_.reset();
    for (std::size_t i = 0; i < followers_.size(); ++i)
      if (ended_[i].wait_for(limit_) == std::future_status::ready)
        followers_[i].join();
      else
        followers_[i].detach();
  }
  Lead& lead() override { return *lead_; }

 private:
  static void follow(parallel::Communicator& world, int threads, kernels::Isa isa) {
    try {
      device::Device device(threads, isa);
      Follower(world, device).serve();
    } catch (const std::exception& error) {
      world.fail(error.what());  // rank 0 throws it
    }
  }

  std::chrono::milliseconds limit_;
  std::shared_ptr<parallel::ThreadGroup> group_;
  std::optional<Lead> lead_;
  std::vector<std::future<void>> ended_;
  std::vector<std::thread> followers_;
};

}  // namespace

std::unique_ptr<Ranks> Ranks::of_threads(int ranks, int threads, kernels::Isa isa,
                                         std::chrono::milliseconds limit) {
  return std::make_unique<Threads>(ranks, threads, isa, limit);
}

std::unique_ptr<Ranks> Ranks::of_processes(std::unique_ptr<parallel::Communicator> world) {
  return std::make_unique<Processes>(std::move(world));
}

}  // namespace redline::model
