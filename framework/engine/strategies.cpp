// SPDX-License-Identifier: Apache-2.0
#include "engine/strategies.hpp"

namespace redline::engine {

void Strategies::keep(const Decoding& settings, const std::vector<PluginChoice>& others) {
  settings_ = settings;
  drafter_ = instance<Drafter>(*settings.draft);
  rule_ = instance<AcceptanceRule>(*settings.accept);
  length_ = instance<DraftLength>(*settings.length);
  kept_.push_back(chain_of(*settings.sampler));
  for (const PluginChoice& other : others) kept_.push_back(instance<Drafter>(other));
}

step::Match Strategies::match() const { return step::match(*drafter_, *rule_); }

Reads Strategies::reads() const { return length_->reads(); }

Claim Strategies::claim() const { return rule_->contract().claim; }

std::shared_ptr<const Plan> Strategies::plan(const Decoding& wanted) {
  std::erase_if(made_, [](const auto& entry) { return entry.second.expired(); });
  const auto drafter = instance<Drafter>(wanted.draft ? *wanted.draft : *settings_.draft);
  const auto rule = instance<AcceptanceRule>(wanted.accept ? *wanted.accept : *settings_.accept);
  const auto length = instance<DraftLength>(wanted.length ? *wanted.length : *settings_.length);
  const auto chain = chain_of(wanted.sampler ? *wanted.sampler : *settings_.sampler);
  std::vector<step::DraftModel*> models;
  for (const void* plugin :
       {static_cast<const void*>(drafter.get()), static_cast<const void*>(rule.get()),
        static_cast<const void*>(length.get())})
    if (const auto opened = models_.find(plugin); opened != models_.end())
      for (Hosted* model : opened->second) models.push_back(&model->draft());
  return std::make_shared<const Plan>(
      Plan{drafter, rule, length, chain, {*drafter, *rule, *length, *chain, std::move(models)}});
}

std::string Strategies::key(Kind kind, const PluginChoice& choice) const {
  std::string text = std::to_string(static_cast<int>(kind)) + choice.name;
  for (const auto& p : registry_.effective(kind, choice.name, choice.arguments))
    text += '\n' + p.name + '=' + p.fallback;
  return text;
}

template <class T>
std::shared_ptr<T> Strategies::instance(const PluginChoice& choice) {
  std::weak_ptr<void>& made = made_[key(T::kKind, choice)];
  if (const auto there = made.lock()) return std::static_pointer_cast<T>(there);
  host_.start_list();
  std::shared_ptr<T> fresh = host_.make<T>(choice.name, choice.arguments);
  if (const auto& opened = host_.list(); !opened.empty()) {
    models_[fresh.get()] = opened;
    kept_.push_back(fresh);
  }
  made = fresh;
  return fresh;
}

// Links are made anew for each chain, which orders and owns them; equal chains are one.
std::shared_ptr<const step::Chain> Strategies::chain_of(const std::vector<PluginChoice>& links) {
  std::string all = "chain";
  for (const PluginChoice& link : links) all += '\n' + key(Kind::SAMPLER, link);
  std::weak_ptr<void>& made = made_[all];
  if (const auto there = made.lock()) return std::static_pointer_cast<step::Chain>(there);
  std::vector<std::unique_ptr<Sampler>> own;
  for (const PluginChoice& link : links)
    own.push_back(registry_.make<Sampler>(link.name, link.arguments, host_));
  const auto fresh = std::make_shared<step::Chain>(std::move(own), ops_, &watch_);
  made = fresh;
  return fresh;
}

}  // namespace redline::engine
