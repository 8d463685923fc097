// SPDX-License-Identifier: Apache-2.0
#include "model/lead_forward.hpp"

#include "redline/error.hpp"

namespace redline::model {

void Orders::send(OrderWriter writer) {
  std::vector<std::byte> message = writer.take();
  world_.broadcast(message, 0, parallel::Patience::LIMIT);
}

void Orders::send_forward(std::uint32_t model, const Batch& batch) {
  OrderWriter writer(Order::FORWARD, model);
  writer.put_list(std::span<const Moved>(moved_));
  put(writer, batch);
  send(std::move(writer));
  moved_.clear();
}

const Output& LeadForward::forward(const Batch& batch) {
  orders_.send_forward(model_, batch);
  try {
    return shard_.forward(batch);
  } catch (const std::exception& error) {
    orders_.world().fail(error.what());  // the followers may be in the midst of a sum
    throw;
  }
}

LedPart::~LedPart() {
  if (!orders_) return;
  try {
    orders_->send(OrderWriter(Order::CLOSE, number_));
  } catch (const std::exception&) {  // the ranks have ended, and said so
  }
}

Forward& LedPart::forward() {
  if (led_) return *led_;
  return shard_;
}

void LedPart::lead(Orders& orders, std::uint32_t number) {
  orders_ = &orders;
  number_ = number;
  led_ = std::make_unique<LeadForward>(orders, number, shard_);
  pool_.on_copy([&orders, number](const kv::SlotCopy& copy) { orders.note(number, copy); });
}

LedModel::LedModel(const files::Gguf& file, std::unique_ptr<parallel::Communicator> ranks,
                   device::Device& device, const LoadOptions& options, std::int32_t pages)
    : ranks_(std::move(ranks)), decoder_(file, device, *ranks_, options), part_(decoder_, pages) {}

LedModule::LedModule(const files::Gguf& file, const ModulePlan& plan,
                     const std::vector<std::int32_t>& taps, LedModel& target,
                     device::Device& device, const LoadOptions& options, std::int32_t pages)
    : module_(file, plan, taps, target.decoder(), device, options), part_(module_, pages) {}

}  // namespace redline::model
