// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_host.hpp"

#include <algorithm>
#include <utility>

#include "files/model_store.hpp"
#include "text/vocabulary.hpp"

namespace redline::engine {
namespace {

// One name for each place: the input of a layer where it can be.
Tap located(const Tap& tap, std::int32_t layers, const std::string& drafter) {
  using Point = Tap::Point;
  if (tap.point == Point::FINAL_NORM) return {Point::FINAL_NORM, 0};
  const std::int32_t layer = tap.layer < 0 ? tap.layer + layers : tap.layer;
  if (layer < 0 || layer >= layers)
    throw PluginError(drafter + " taps the " +
                      (tap.point == Point::LAYER_INPUT ? "input" : "output") + " of layer " +
                      std::to_string(tap.layer) + ", the target has " + std::to_string(layers));
  if (tap.point == Point::LAYER_OUTPUT && layer + 1 < layers)
    return {Point::LAYER_INPUT, layer + 1};
  return {tap.point, layer};
}

}  // namespace

TargetShape EngineHost::do_target() const {
  return {target_.layers, target_.hidden, target_.vocab, target_.context};
}

redline::Model& EngineHost::do_open_model(const ModelChoice& choice, std::int32_t degree) {
  const std::string& name = choice.model;
  const int wanted = degree > 0 ? degree : draft_degree_;
  if (wanted > ranks_)
    throw InputError("draft model " + name + ": degree " + std::to_string(wanted) +
                     " asked for, this engine has " + std::to_string(ranks_) +
                     " ranks; raise engine.draft_tp");
  auto file = files::Gguf::open(files::locate_model(name));
  auto there = std::ranges::find_if(models_, [&](const auto& model) {
    return model->file().path() == file.path() && model->degree() == wanted &&
           saves_alike(model->choice(), choice);
  });
  if (there == models_.end()) {
    check_open("draft model " + name);
    const auto match = text::compare(tokenizer_, text::Tokenizer(file));
    if (!match.usable()) throw InputError("draft model " + name + ": " + match.explain());
    Savings savings = savings_of(choice, file);
    models_.push_back(
        std::make_unique<HostedModel>(choice, std::move(file), wanted, std::move(savings)));
    there = models_.end() - 1;
  }
  note(**there);
  return **there;
}

redline::Model& EngineHost::do_open_module(std::string_view weights,
                                           void (*build)(ModuleBuilder&)) {
  const std::string name(weights);
  auto file = files::Gguf::open(files::locate_model(name));
  auto graph = model::record_graph(build);
  auto there = std::ranges::find_if(modules_, [&](const auto& module) {
    return module->file().path() == file.path() && module->graph() == graph;
  });
  if (there == modules_.end()) {
    check_open("module " + name);
    modules_.push_back(std::make_unique<HostedModule>(name, std::move(file), std::move(graph)));
    there = modules_.end() - 1;
  }
  unbound_.push_back(there->get());
  note(**there);
  return **there;
}

std::unique_ptr<Plugin> EngineHost::make(Kind kind, const std::string& name,
                                         const plugin::Arguments& arguments) {
  auto of_outer = std::exchange(unbound_, {});  // of a plugin that opens this one
  auto made = registry_.make(kind, name, arguments, *this);
  if (kind == Kind::DRAFTER) bind(name, static_cast<Drafter&>(*made).contract().needs.taps);
  unbound_ = std::move(of_outer);
  return made;
}

void EngineHost::check_open(const std::string& what) const {
  if (is_sealed_)
    throw InputError(what +
                     " was not opened at the start, when memory was planned; name its drafter in "
                     "engine.drafters");
}

void EngineHost::note(Hosted& asked_for) {
  if (std::ranges::find(list_, &asked_for) == list_.end()) list_.push_back(&asked_for);
}

void EngineHost::bind(const std::string& drafter, std::span<const Tap> taps) {
  if (unbound_.empty()) return;
  std::vector<std::int32_t> places;
  for (const Tap& tap : taps) {
    const Tap here = located(tap, target_.layers, drafter);
    const auto there = std::ranges::find(taps_, here);
    places.push_back(static_cast<std::int32_t>(there - taps_.begin()));
    if (there == taps_.end()) taps_.push_back(here);
  }
  for (HostedModule* module : unbound_) module->bind(places, drafter);
}

std::unique_ptr<Plugin> EngineHost::do_open(Kind kind, std::string_view name,
                                            std::span<const Setting> settings) {
  plugin::Arguments arguments;
  for (const Setting& s : settings)
    arguments.push_back({std::string(s.name), std::string(s.value), "asked for by a plugin"});
  return make(kind, std::string(name), arguments);
}

}  // namespace redline::engine
