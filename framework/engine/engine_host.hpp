// SPDX-License-Identifier: Apache-2.0
// What plugins may ask for while they are made: the target's shape, models, other plugins.
#pragma once
#include <memory>
#include <vector>

#include "engine/hosted_model.hpp"
#include "plugin/registry.hpp"
#include "redline/host.hpp"
#include "text/tokenizer.hpp"

namespace redline::engine {

class EngineHost final : public Host {
 public:
  EngineHost(const plugin::Registry& registry, const model::Shape& target,
             const text::Tokenizer& tokenizer)
      : registry_(registry), target_(target), tokenizer_(tokenizer) {}
  std::vector<std::unique_ptr<HostedModel>>& models() { return models_; }

 private:
  TargetShape do_target() const override;
  // InputError: no such model, or a vocabulary that is not the target's (first differing id, both
  // texts, the overlap).
  redline::Model& do_open_model(std::string_view path, std::int32_t degree) override;
  std::unique_ptr<Plugin> do_open(Kind kind, std::string_view name,
                                  std::span<const Setting> settings) override;

  const plugin::Registry& registry_;
  const model::Shape& target_;
  const text::Tokenizer& tokenizer_;
  std::vector<std::unique_ptr<HostedModel>> models_;
};

}  // namespace redline::engine
