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
  const std::vector<std::unique_ptr<HostedModel>>& models() const { return models_; }
  void seal() { is_sealed_ = true; }  // memory is planned: no further model is opened
  // Models asked for since start_list(), each once.
  void start_list() { list_.clear(); }
  const std::vector<HostedModel*>& list() const { return list_; }

 private:
  TargetShape do_target() const override;
  // One model for all who ask for the same file. InputError: no such model, one that was not opened
  // before the start, or a vocabulary that is not the target's (first differing id, both texts, the
  // overlap).
  redline::Model& do_open_model(std::string_view path, std::int32_t degree) override;
  std::unique_ptr<Plugin> do_open(Kind kind, std::string_view name,
                                  std::span<const Setting> settings) override;

  const plugin::Registry& registry_;
  const model::Shape& target_;
  const text::Tokenizer& tokenizer_;
  std::vector<std::unique_ptr<HostedModel>> models_;
  std::vector<HostedModel*> list_;
  bool is_sealed_ = false;
};

}  // namespace redline::engine
