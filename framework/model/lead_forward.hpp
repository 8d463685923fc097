// SPDX-License-Identifier: Apache-2.0
// A model as rank 0 has it: its own shard and pool, and a Forward that takes the followers along.
#pragma once
#include <memory>
#include <vector>

#include "model/module.hpp"
#include "model/orders.hpp"
#include "parallel/communicator.hpp"

namespace redline::model {

// The way to the followers, with the slots that were copied since the last order to go forward.
class Orders {
 public:
  explicit Orders(parallel::Communicator& world) : world_(world) {}
  parallel::Communicator& world() const { return world_; }
  void send(OrderWriter writer);
  void note(std::uint32_t model, const kv::SlotCopy& copy) { moved_.push_back({model, copy}); }
  void send_forward(std::uint32_t model, const Batch& batch);

 private:
  parallel::Communicator& world_;
  std::vector<Moved> moved_;
};

class LeadForward final : public Forward {
 public:
  LeadForward(Orders& orders, std::uint32_t model, Forward& shard)
      : orders_(orders), model_(model), shard_(shard) {}
  std::int32_t vocab() const override { return shard_.vocab(); }
  std::int32_t context() const override { return shard_.context(); }
  std::int32_t max_rows() const override { return shard_.max_rows(); }
  kv::KvShape kv_shape() const override { return shard_.kv_shape(); }
  Feeding feeding() const override { return shard_.feeding(); }
  const Output& forward(const Batch& batch) override;

 private:
  Orders& orders_;
  std::uint32_t model_;
  Forward& shard_;
};

// The pages of a model on this rank, and its forward; the followers have theirs once it is led.
class LedPart {
 public:
  LedPart(Forward& shard, std::int32_t pages) : shard_(shard), pool_(shard.kv_shape(), pages) {}
  ~LedPart();                        // the followers close theirs
  LedPart(const LedPart&) = delete;  // forward and pool hold its address

  Forward& forward();
  kv::PagePool& pool() { return pool_; }
  void lead(Orders& orders, std::uint32_t number);
  bool is_led() const { return orders_ != nullptr; }
  std::uint32_t number() const { return number_; }

 private:
  Forward& shard_;
  kv::PagePool pool_;
  Orders* orders_ = nullptr;  // null: of one rank
  std::uint32_t number_ = 0;
  std::unique_ptr<LeadForward> led_;
};

class LedModel {
 public:
  LedModel(const files::Gguf& file, std::unique_ptr<parallel::Communicator> ranks,
           device::Device& device, const LoadOptions& options, std::int32_t pages);
  Forward& forward() { return part_.forward(); }
  Decoder& decoder() { return decoder_; }        // rank 0's shard
  kv::PagePool& pool() { return part_.pool(); }  // rank 0's
  int degree() const { return ranks_->size(); }

 private:
  friend class Lead;
  std::unique_ptr<parallel::Communicator> ranks_;
  Decoder decoder_;
  LedPart part_;
};

// A learned head: whole on every rank of its target, which outlives it.
class LedModule {
 public:
  LedModule(const files::Gguf& file, const ModulePlan& plan, const std::vector<std::int32_t>& taps,
            LedModel& target, device::Device& device, const LoadOptions& options,
            std::int32_t pages);
  Forward& forward() { return part_.forward(); }
  kv::PagePool& pool() { return part_.pool(); }

 private:
  friend class Lead;
  Module module_;
  LedPart part_;
};

}  // namespace redline::model
