// SPDX-License-Identifier: Apache-2.0
// A learned head that a drafter opened. Its taps are known when the drafter is made, its weights
// and pages when the target is loaded.
#pragma once
#include <memory>

#include "engine/hosted.hpp"
#include "model/module_plan.hpp"

namespace redline::engine {

class HostedModule final : public Hosted {
 public:
  HostedModule(std::string name, files::Gguf file, model::ModuleGraph graph);
  ~HostedModule() override { stop_serving(); }

  const model::ModuleGraph& graph() const { return graph_; }
  // Where each tap of its drafter lies among those that the target keeps. PluginError: other ones
  // than those of an earlier drafter that opened it.
  void bind(const std::vector<std::int32_t>& taps, const std::string& drafter);
  // InputError: the graph cannot run on this target.
  model::MemoryNeed need(const model::Architecture& target,
                         const model::LoadOptions& options) const;
  void load(const ModelContext& context, model::LedModel& target, std::int32_t pages, bool keep_raw,
            bool keep_prefixes);

 private:
  model::ModuleGraph graph_;
  std::optional<std::vector<std::int32_t>> taps_;  // none: not opened by a drafter
  std::unique_ptr<model::LedModule> module_;
};

}  // namespace redline::engine
