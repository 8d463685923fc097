// SPDX-License-Identifier: Apache-2.0
#include "model/follower.hpp"

#include "model/module.hpp"
#include "redline/error.hpp"

namespace redline::model {

// A shard of a model, or a module beside the model that it reads.
struct Follower::Served {
  Served(std::unique_ptr<parallel::Communicator> group, std::unique_ptr<Forward> runs,
         std::int32_t pages)
      : ranks(std::move(group)), shard(std::move(runs)), pool(shard->kv_shape(), pages) {}

  std::unique_ptr<parallel::Communicator> ranks;  // of a model: its shard holds the address
  std::unique_ptr<Forward> shard;
  kv::PagePool pool;
  Decoder* decoder = nullptr;              // of a model: what modules borrow from
  const kv::PagePool* features = nullptr;  // of a module: the pages of its target
  ReceivedBatch batch;
};

Follower::Follower(parallel::Communicator& world, device::Device& device)
    : world_(world), device_(device) {}
Follower::~Follower() = default;

void Follower::serve() {
  try {
    std::vector<std::byte> message;
    do {
      world_.broadcast(message, 0, parallel::Patience::ORDER);
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
    case Order::OPEN_MODULE:
      open_module(cursor, model);
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
  if (auto group = world_.first(order.degree)) {
    auto decoder =
        std::make_unique<Decoder>(files::Gguf::open(order.file), device_, *group, order.options);
    Decoder* const lent = decoder.get();
    served_[model] = std::make_unique<Served>(std::move(group), std::move(decoder), order.pages);
    served_[model]->decoder = lent;
  }
  world_.barrier(parallel::Patience::LOAD);
}

void Follower::open_module(files::ByteCursor& cursor, std::uint32_t model) {
  const OpenModuleOrder order = read_open_module(cursor);
  if (Served* const target = find(order.target)) {
    const auto file = files::Gguf::open(order.file);
    const ModulePlan plan = module_plan(file, order.graph, target->decoder->architecture(),
                                        static_cast<std::int32_t>(order.taps.size()));
    served_[model] = std::make_unique<Served>(
        nullptr,
        std::make_unique<Module>(file, plan, order.taps, *target->decoder, device_, order.options),
        order.pages);
    served_[model]->features = &target->pool;
  }
  world_.barrier(parallel::Patience::LOAD);
}

void Follower::forward(files::ByteCursor& cursor, std::uint32_t model) {
  read_list(cursor, moved_, "copies");
  for (const Moved& moved : moved_)
    if (Served* const of = find(moved.model)) of->pool.copy_slot(moved.copy);
  if (Served* const of = find(model))
    of->shard->forward(of->batch.read(cursor, of->pool, of->features));
}

Follower::Served* Follower::find(std::uint32_t model) {
  const auto found = served_.find(model);
  return found == served_.end() ? nullptr : found->second.get();
}

}  // namespace redline::model
