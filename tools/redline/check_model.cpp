// SPDX-License-Identifier: Apache-2.0
#include "redline/check_model.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>

#include "check/model_run.hpp"
#include "check/statistics.hpp"
#include "check/subject.hpp"
#include "experiment/prompts.hpp"
#include "experiment/stop_request.hpp"
#include "files/model_store.hpp"
#include "redline/check_state.hpp"
#include "redline/count_progress.hpp"
#include "redline/scratch_folder.hpp"

namespace redline::tool {
namespace {

using check::Choice, check::ModelRun, check::ModelSpec, check::Subject;

constexpr const char* kTiny = "tiny";
constexpr std::int32_t kDraftDepth = 4;
constexpr double kSize = 1e-3;     // of all gates together
constexpr int kInterrupted = 130;  // as shells say of Ctrl-C

engine::PluginChoice in_engine(const Choice& choice) { return {choice.name, choice.arguments()}; }

// "draft_tree shape=2;1 method=iid"
Choice parsed_choice(const std::string& text) {
  std::istringstream words(text);
  Choice out;
  words >> out.name;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError("--drafter: " + word + " is no key=value; write NAME key=value ...");
    out.values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return out;
}

struct Judged {
  check::Report report;
  std::vector<double> adjusted;  // by Holm, of each gate
  bool holds() const {
    return report.faults.empty() &&
           std::all_of(adjusted.begin(), adjusted.end(), [](double p) { return p >= kSize; });
  }
};

Judged judged(const ModelRun& run) {
  Judged out{run.report(kSize), {}};
  std::vector<double> p;
  for (const check::Gate& gate : out.report.gates) p.push_back(gate.p);
  out.adjusted = check::holm(p);
  return out;
}

void print_table(const Judged& j, const std::string& name, const ModelRun& run) {
  std::printf("%-20s  %9s  %10s  %8s  %8s  %s\n", "gate", "samples", "statistic", "p", "p (Holm)",
              "would have seen");
  for (std::size_t k = 0; k < j.adjusted.size(); ++k) {
    const check::Gate& g = j.report.gates[k];
    std::printf("%-20s  %9.0f  %10.4f  %8.2g  %8.2g  %.2g %s\n", g.name.c_str(), g.samples,
                g.statistic, g.p, j.adjusted[k], g.reach, g.unit.c_str());
  }
  for (const std::string& fault : j.report.faults) std::printf("%s\n", fault.c_str());
  std::printf("%s: %lld tokens in %lld texts, %.3f kept a drafting step: %s\n", name.c_str(),
              static_cast<long long>(run.tokens()), static_cast<long long>(run.texts()),
              run.kept_per_step(), j.holds() ? "as plain decoding's" : "NOT plain decoding's");
}

void print_json(const Judged& j, const std::string& name, const ModelRun& run) {
  config::Value out = config::Value::map();
  std::vector<config::Value> gates, faults;
  for (std::size_t k = 0; k < j.adjusted.size(); ++k) {
    const check::Gate& g = j.report.gates[k];
    gates.push_back(config::Value::map()
                        .put("gate", config::Value::of(g.name))
                        .put("samples", config::Value::of(g.samples))
                        .put("statistic", config::Value::of(g.statistic))
                        .put("p", config::Value::of(g.p))
                        .put("p_holm", config::Value::of(j.adjusted[k]))
                        .put("reach", config::Value::of(g.reach))
                        .put("reach_unit", config::Value::of(g.unit)));
  }
  for (const std::string& fault : j.report.faults) faults.push_back(config::Value::of(fault));
  out.put("plugin", config::Value::of(name))
      .put("tokens", config::Value::of(run.tokens()))
      .put("texts", config::Value::of(run.texts()))
      .put("kept_per_step", config::Value::of(run.kept_per_step()))
      .put("size", config::Value::of(kSize))
      .put("holds", config::Value::of(j.holds()))
      .put("gates", config::Value::list_of(std::move(gates)))
      .put("faults", config::Value::list_of(std::move(faults)));
  std::printf("%s\n", config::to_json(out).c_str());
}

int report(const Subject& subject, const CheckModelOptions& options, const ModelRun& run) {
  const Judged j = judged(run);
  const std::string& name = subject.listing().name;
  options.json ? print_json(j, name, run) : print_table(j, name, run);
  if (!options.json && !j.holds() && !subject.is_lossless())
    std::printf("%s says that it is approximate: no failure\n", name.c_str());
  return j.holds() || !subject.is_lossless() ? 0 : 1;
}

class Setup {  // what the options come to
 public:
  Setup(const plugin::Registry& registry, const Subject& subject, const CheckModelOptions& options)
      : registry_(registry), options_(options) {
    spec.seed = options.seed;
    spec.text_tokens = options.text_tokens;
    place_models();
    place_plugins(subject);
    if (!options.data.empty()) place_prompts();
  }
  ModelSpec spec;

 private:
  void place_models() {
    engine::Settings& s = spec.settings;
    s.threads = options_.threads;
    s.trace_level = trace::Level::CHOSEN;
    s.max_model_len = 2 * options_.text_tokens + 64;
    s.target = options_.model;
    spec.draft = options_.draft;
    if (options_.model != kTiny) return;
    folder_.emplace();
    s.cache_folder = folder_->path();
    s.threads = 1;  // too small to share out
    s.target = tiny(2, "target.gguf");
    if (spec.draft.empty() || spec.draft == kTiny) spec.draft = tiny(1, "draft.gguf");
  }
  std::string tiny(int layers, const char* name) const {
    const auto path = folder_->path() / name;
    model::write_tiny_model(check::tiny_spec(layers), path);
    return path.string();
  }
  void place_plugins(const Subject& subject) {
    engine::Settings& s = spec.settings;
    const Choice choice = subject.choice();
    s.length = in_engine({"length_fixed", {{"max_depth", std::to_string(kDraftDepth)}}});
    s.sampler = {in_engine({"sample_temperature", {{"t", std::to_string(options_.temperature)}}})};
    s.accept = in_engine(subject.partner_rule());
    s.draft = drafter(subject);
    if (subject.listing().kind == Kind::RULE) s.accept = in_engine(choice);
    if (subject.listing().kind == Kind::LENGTH) s.length = in_engine(choice);
    if (subject.listing().kind == Kind::SAMPLER) s.sampler.push_back(in_engine(choice));
  }
  engine::PluginChoice drafter(const Subject& subject) const {
    Choice out;
    if (subject.listing().kind == Kind::DRAFTER)
      out = subject.choice();
    else if (!options_.drafter.empty())
      out = parsed_choice(options_.drafter);
    else if (spec.draft.empty())
      out = {"draft_ngram"};
    else
      out = subject.partner_drafter();
    const auto takes_model = [](const plugin::Parameter& p) { return p.name == "model"; };
    const auto& known = registry_.find(out.name).parameters;
    if (std::any_of(known.begin(), known.end(), takes_model)) {
      if (spec.draft.empty()) throw InputError(out.name + " drafts with a model; give --draft");
      out.values["model"] = spec.draft;
    }
    return in_engine(out);
  }
  void place_prompts() {
    experiment::Cell cell;
    cell.engine = spec.settings;
    cell.data = {{.path = options_.data, .name = options_.data, .sha256 = {}}};
    const files::Gguf file = files::Gguf::open(files::locate_model(spec.settings.target));
    for (engine::Request& r :
         experiment::requests_of(experiment::load_items(cell.data), cell, text::Tokenizer(file),
                                 text::ChatTemplate(file)))
      spec.prompts.push_back(std::move(r.prompt));
  }

  const plugin::Registry& registry_;
  const CheckModelOptions& options_;
  std::optional<ScratchFolder> folder_;
};

}  // namespace

int check_model(const plugin::Registry& registry, const plugin::Listing& plugin,
                const std::map<std::string, std::string>& values,
                const CheckModelOptions& options) {
  experiment::StopRequest stop;  // before the first thread
  const Subject subject(registry, plugin, values);
  const Setup setup(registry, subject, options);
  CheckState state(plugin, values, options);
  auto judge = options.temperature == 0 ? check::twin_judge(setup.spec, registry)
                                        : check::law_judge(setup.spec, registry);
  ModelRun run(setup.spec, registry, std::move(judge), [](const std::string&) {});
  if (state.saved()) run.restore(*state.saved());
  CountProgress progress(plugin.name, "tokens", options.tokens, run.tokens());
  const auto asked = [&stop] { return stop.asked(); };
  bool goes_on = true;
  while (goes_on && run.tokens() < options.tokens) {
    goes_on = run.advance(asked);
    progress.update(run.tokens());
    if (!goes_on || state.is_due()) state.save(run.state());
  }
  progress.end();
  if (goes_on)
    state.finish();
  else
    std::fprintf(stderr,
                 "stopped at %lld tokens, kept in %s; the same command with --resume goes on\n",
                 static_cast<long long>(run.tokens()), state.path().c_str());
  return goes_on ? report(subject, options, run) : kInterrupted;
}

}  // namespace redline::tool
