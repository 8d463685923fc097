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
  model->part_.lead(orders_, tell(Order::OPEN, OpenOrder{file.path(), degree, pages, options}));
  return model;
}

std::unique_ptr<LedModule> Lead::open_module(const files::Gguf& file, const ModuleGraph& graph,
                                             const std::vector<std::int32_t>& taps,
                                             LedModel& target, device::Device& device,
                                             const LoadOptions& options, std::int32_t pages) {
  const ModulePlan plan = module_plan(file, graph, target.decoder().architecture(),
                                      static_cast<std::int32_t>(taps.size()));
  auto module = std::make_unique<LedModule>(file, plan, taps, target, device, options, pages);
  if (!target.part_.is_led()) return module;
  const OpenModuleOrder order{file.path(), target.part_.number(), graph, taps, pages, options};
  module->part_.lead(orders_, tell(Order::OPEN_MODULE, order));
  return module;
}

// The number that the followers know it by, once all have loaded it.
template <class Open>
std::uint32_t Lead::tell(Order order, const Open& what) {
  OrderWriter writer(order, opened_);
  put(writer, what);
  orders_.send(std::move(writer));
  orders_.world().barrier(parallel::Patience::LOAD);
  return opened_++;
}

}  // namespace redline::model
