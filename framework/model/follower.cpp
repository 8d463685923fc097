// SPDX-License-Identifier: Apache-2.0
#include "model/follower.hpp"

#include "redline/error.hpp"

namespace redline::model {

struct Follower::Served {
  Served(const OpenOrder& order, std::unique_ptr<parallel::Communicator> group,
         device::Device& device)
      : ranks(std::move(group)),
        decoder(files::Gguf::open(order.file), device, *ranks, order.options),
        pool(decoder.kv_shape(), order.pages) {}

  std::unique_ptr<parallel::Communicator> ranks;
  Decoder decoder;
  kv::PagePool pool;
  ReceivedBatch batch;
};

Follower::Follower(parallel::Communicator& world, device::Device& device)
    : world_(world), device_(device) {}
Follower::~Follower() = default;

void Follower::serve() {
  try {
    std::vector<std::byte> message;
    do {
      world_.broadcast(message, 0, parallel::Patience::ENDLESS);
    } while (obey(message));
  } catch (const std::exception& error) {
    world_.fail(error.what());
    throw;
  }
}

bool Follower::obey(std::span<const std::byte> message) {
  files::ByteCursor cursor(message, "an order of rank 0");
  const auto order = cursor.read<Order>("order");
  const auto model = cursor.read<std::uint32_t>("model");
  switch (order) {
    case Order::OPEN:
      open(cursor, model);
      return true;
    case Order::FORWARD:
      forward(cursor, model);
      return true;
    case Order::CLOSE:
      served_.erase(model);
      return true;
    case Order::STOP:
      return false;
  }
  throw Error("rank 0 gave the unknown order " + std::to_string(static_cast<unsigned>(order)));
}

void Follower::open(files::ByteCursor& cursor, std::uint32_t model) {
  const OpenOrder order = read_open(cursor);
  if (auto group = world_.first(order.degree))
    served_[model] = std::make_unique<Served>(order, std::move(group), device_);
  world_.barrier(parallel::Patience::LOAD);
}

void Follower::forward(files::ByteCursor& cursor, std::uint32_t model) {
  read_list(cursor, moved_, "copies");
  for (const Moved& moved : moved_)
    if (Served* const of = find(moved.model)) of->pool.copy_slot(moved.copy);
  if (Served* const of = find(model))
    of->decoder.forward(of->batch.read(cursor, of->pool, nullptr));
}

Follower::Served* Follower::find(std::uint32_t model) {
  const auto found = served_.find(model);
  return found == served_.end() ? nullptr : found->second.get();
}

}  // namespace redline::model
