// SPDX-License-Identifier: Apache-2.0
// A rank that decides nothing: it runs its shard of each model over the batches that rank 0 sends,
// with page tables that are copies of rank 0's. It knows no request and loads no plugin.
#pragma once
#include <map>
#include <memory>

#include "model/orders.hpp"
#include "parallel/communicator.hpp"

namespace redline::model {

class Follower {
 public:
  Follower(parallel::Communicator& world, device::Device& device);
  ~Follower();
  // Until rank 0 says stop. What goes wrong is told to the other ranks, then thrown.
  void serve();

 private:
  struct Served;
  bool obey(std::span<const std::byte> message);  // false: stop
  void open(files::ByteCursor& cursor, std::uint32_t model);
  void open_module(files::ByteCursor& cursor, std::uint32_t model);
  void forward(files::ByteCursor& cursor, std::uint32_t model);
  Served* find(std::uint32_t model);  // null: this rank has no part in it

  parallel::Communicator& world_;
  device::Device& device_;
  std::map<std::uint32_t, std::unique_ptr<Served>> served_;
  std::vector<Moved> moved_;
};

}  // namespace redline::model
