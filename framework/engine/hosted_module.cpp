// SPDX-License-Identifier: Apache-2.0
#include "engine/hosted_module.hpp"

namespace redline::engine {

HostedModule::HostedModule(std::string name, files::Gguf file, model::ModuleGraph graph)
    : Hosted(std::move(name), std::move(file)), graph_(std::move(graph)) {}

void HostedModule::bind(const std::vector<std::int32_t>& taps, const std::string& drafter) {
  if (taps_ && *taps_ != taps)
    throw PluginError(drafter + " and an earlier drafter run " + name() +
                      " over different taps; give each a weights file of its own");
  taps_ = taps;
}

model::MemoryNeed HostedModule::need(const model::Architecture& target,
                                     const model::LoadOptions& options) const {
  const auto taps = static_cast<std::int32_t>(taps_ ? taps_->size() : 0);
  const auto plan = model::module_plan(file(), graph_, target, taps);
  return model::Module::memory_need(file(), plan, options);
}

void HostedModule::load(const ModelContext& context, model::LedModel& target, std::int32_t pages,
                        bool keep_raw, bool keep_prefixes) {
  module_ = context.lead.open_module(file(), graph_, taps_.value_or(std::vector<std::int32_t>()),
                                     target, context.device, context.load, pages);
  serve(module_->forward(), module_->pool(), context.device.pool(), keep_raw, keep_prefixes);
}

}  // namespace redline::engine
