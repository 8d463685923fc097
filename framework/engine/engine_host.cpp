// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_host.hpp"

#include <algorithm>

#include "files/model_store.hpp"
#include "text/vocabulary.hpp"

namespace redline::engine {

TargetShape EngineHost::do_target() const {
  return {target_.layers, target_.hidden, target_.vocab, target_.context};
}

redline::Model& EngineHost::do_open_model(std::string_view path, std::int32_t degree) {
  const std::string name(path);
  if (degree > 1)
    throw InputError("draft model " + name + ": degree " + std::to_string(degree) +
                     " asked for, this engine has 1 rank; use degree 1");
  auto file = files::Gguf::open(files::locate_model(name));
  auto there = std::ranges::find_if(
      models_, [&](const auto& model) { return model->file().path() == file.path(); });
  if (there == models_.end()) {
    if (is_sealed_)
      throw InputError("draft model " + name +
                       " was not opened at the start, when memory was planned; name its drafter in "
                       "engine.drafters");
    const auto match = text::compare(tokenizer_, text::Tokenizer(file));
    if (!match.usable()) throw InputError("draft model " + name + ": " + match.explain());
    models_.push_back(std::make_unique<HostedModel>(name, std::move(file)));
    there = models_.end() - 1;
  }
  if (std::ranges::find(list_, there->get()) == list_.end()) list_.push_back(there->get());
  return **there;
}

std::unique_ptr<Plugin> EngineHost::do_open(Kind kind, std::string_view name,
                                            std::span<const Setting> settings) {
  plugin::Arguments arguments;
  for (const Setting& s : settings)
    arguments.push_back({std::string(s.name), std::string(s.value), "asked for by a plugin"});
  const std::string wanted(name);
  switch (kind) {
    case Kind::DRAFTER:
      return registry_.make<Drafter>(wanted, arguments, *this);
    case Kind::LENGTH:
      return registry_.make<DraftLength>(wanted, arguments, *this);
    case Kind::SAMPLER:
      return registry_.make<Sampler>(wanted, arguments, *this);
    case Kind::RULE:
      return registry_.make<AcceptanceRule>(wanted, arguments, *this);
  }
  throw Error("a plugin asked for a plugin of an unknown kind");
}

}  // namespace redline::engine
