// SPDX-License-Identifier: Apache-2.0
#include "model/lead.hpp"

#include "redline/error.hpp"

namespace redline::model {

Lead::~Lead() {
  if (ranks() == 1) return;
  try {
    orders_.send(OrderWriter(Order::STOP, 0));
  } catch (const std::exception&) {  // the ranks have ended, and said so
  }
}

// Rank 0 loads first: the others find the weights packed.
std::unique_ptr<LedModel> Lead::open(const files::Gguf& file, int degree, device::Device& device,
                                     const LoadOptions& options, std::int32_t pages) {
  if (degree < 1 || degree > ranks())
    throw InputError("tensor parallel degree " + std::to_string(degree) + " of " +
                     std::to_string(ranks()) + " ranks");
  if (degree == 1)
    return std::make_unique<LedModel>(file, std::make_unique<parallel::Solo>(), device, options,
                                      pages);
  auto model =
      std::make_unique<LedModel>(file, orders_.world().first(degree), device, options, pages);
  const std::uint32_t number = opened_++;
  OrderWriter writer(Order::OPEN, number);
  put(writer, OpenOrder{file.path(), degree, pages, options});
  orders_.send(std::move(writer));
  orders_.world().barrier(parallel::Patience::LOAD);
  model->lead(orders_, number);
  return model;
}

}  // namespace redline::model
