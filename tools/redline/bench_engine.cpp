// SPDX-License-Identifier: Apache-2.0
#include "redline/bench_engine.hpp"

#include <algorithm>
#include <cstdio>

#include "engine/engine.hpp"
#include "experiment/prompts.hpp"
#include "experiment/table.hpp"
#include "files/json.hpp"
#include "files/model_store.hpp"
#include "model/tiny_model.hpp"
#include "redline/count_progress.hpp"
#include "redline/load_figures.hpp"
#include "redline/scratch_folder.hpp"

namespace redline::tool {
namespace {

constexpr const char* kTiny = "tiny";
constexpr int kMostSequences = 4096, kMostDrafted = 1024;

constexpr const char* kTexts[] = {
    "def merge_intervals(intervals):\n    \"\"\"Merge overlapping closed intervals.\"\"\"\n",
    "class LruCache:\n    \"\"\"A cache that forgets what was used longest ago.\"\"\"\n",
    "// Binary search in a sorted vector: the index of `value`, or -1.\nint find(const ",
    "The three laws of thermodynamics, in one sentence each:\n1. ",
    "-- The ten customers with the highest turnover of last year.\nSELECT ",
    "Once upon a time, in a small house at the edge of the forest, there lived ",
    "{\"name\": \"Ada Lovelace\", \"born\": 1815, \"died\": ",
    "import numpy as np\n\ndef softmax(x):\n    ",
};

constexpr int kPlain = 0;  // a depth: nothing is drafted
const char* name_of(int depth) { return depth == kPlain ? "plain" : "speculative"; }

using Texts = std::vector<std::vector<Token>>;  // of each sequence

struct Measured {
  int sequences, depth;
  std::vector<LoadFigures> repeats = {};
  Texts texts = {};
  const LoadFigures& median() const { return repeats[repeats.size() / 2]; }  // by throughput
};

void check(const BenchEngineOptions& o) {
  const auto [least, most] = std::ranges::minmax(o.sequences);
  if (least < 1 || most > kMostSequences)
    throw InputError("bench engine: --sequences names " + std::to_string(least < 1 ? least : most) +
                     "; each is from 1 to " + std::to_string(kMostSequences));
  const auto [shortest, longest] = std::ranges::minmax(o.draft_tokens);
  if (shortest < 1 || longest > kMostDrafted)
    throw InputError("bench engine: --draft-tokens names " +
                     std::to_string(shortest < 1 ? shortest : longest) + "; each is from 1 to " +
                     std::to_string(kMostDrafted));
  if (o.model.model != kTiny && o.draft.empty() &&
      (o.model.requantize != "none" || o.model.head_tokens > 0 || !o.model.frequencies.empty()))
    throw InputError(
        "bench engine: --requantize, --head-tokens and --frequencies make a draft model cheaper, "
        "and there is none: name it with --draft");
}

trace::Level level_of(const std::string& name) {
  for (const auto level : {trace::Level::CHOSEN, trace::Level::TOPK, trace::Level::FULL})
    if (experiment::name_of(level) == name) return level;
  return trace::Level::COUNTS;
}

// The draft of the tiny pair is its target without the last layer.
std::string tiny_model(const ScratchFolder& folder, const char* name, int layers) {
  const auto path = folder.path() / name;
  model::write_tiny_model({.layers = layers}, path);
  return path.string();
}

engine::PluginChoice drafter_of(const BenchEngineOptions& o, const std::string& model) {
  if (model.empty()) return {"draft_ngram", {}};
  engine::PluginChoice choice{
      "draft_model",
      {{"model", model, "--draft"}, {"requantize", o.model.requantize, "--requantize"}}};
  if (o.model.head_tokens > 0)
    choice.arguments.push_back(
        {"head_tokens", std::to_string(o.model.head_tokens), "--head-tokens"});
  if (!o.model.frequencies.empty())
    choice.arguments.push_back({"frequencies", o.model.frequencies, "--frequencies"});
  return choice;
}

engine::PluginChoice length_of(int depth) {
  return {"length_fixed", {{"max_depth", std::to_string(depth), "--draft-tokens"}}};
}

engine::Settings settings_of(const BenchEngineOptions& o, const ScratchFolder& folder) {
  engine::Settings s;
  s.target = o.model.model;
  std::string draft = o.draft;
  if (s.target == kTiny) {
    s.target = tiny_model(folder, "target.gguf", 2);
    if (draft.empty() || draft == kTiny) draft = tiny_model(folder, "draft.gguf", 1);
    s.cache_folder = folder.path();
  }
  s.draft = drafter_of(o, draft);
  s.accept = {o.temperature == 0 ? "accept_match" : "accept_ratio", {}};
  s.length = length_of(std::ranges::max(o.draft_tokens));
  s.sampler = {{"sample_temperature", {{"t", std::to_string(o.temperature), "--temperature"}}}};
  if (o.top_p < 1)
    s.sampler.push_back({"sample_top_p", {{"p", std::to_string(o.top_p), "--top-p"}}});
  s.device = o.model.device;
  s.isa = o.model.isa;
  s.threads = o.model.threads;
  s.kv_type = *kernels::kv_type_from(o.model.kv_dtype);
  s.max_num_seqs = std::ranges::max(o.sequences);
  s.prefix_cache = true;  // prompts are computed once: what is measured is decoding
  s.trace_level = level_of(o.trace);
  return s;
}

std::vector<experiment::Item> items_of(const BenchEngineOptions& o) {
  if (!o.prompt.empty()) {
    experiment::DataSetChoice own;
    own.path = own.name = o.prompt;
    return experiment::load_data_set(own);
  }
  std::vector<experiment::Item> items;
  for (const char* text : kTexts) items.emplace_back().prompt = text;
  return items;
}

std::vector<engine::Request> prompts_of(const BenchEngineOptions& o, const std::string& target) {
  const files::Gguf file = files::Gguf::open(files::locate_model(target));
  experiment::Cell cell;
  cell.engine.max_model_len = model::shape_of(file).context;
  cell.generate.max_tokens = o.tokens;
  cell.generate.ignore_eos = true;
  return experiment::requests_of(items_of(o), cell, text::Tokenizer(file),
                                 text::ChatTemplate(file));
}

engine::Decoding decoding_of(int depth) {
  engine::Decoding decoding;
  if (depth == kPlain) decoding.draft = {"draft_none", {}};  // and no rows set aside for one
  decoding.length = length_of(depth);
  return decoding;
}

std::int32_t longest(const std::vector<engine::Request>& requests) {
  return static_cast<std::int32_t>(
      std::ranges::max(requests, {}, [](const auto& r) { return r.prompt.size(); }).prompt.size());
}

Texts texts_of(std::span<const engine::Result> results) {
  Texts texts;
  for (const engine::Result& r : results) texts.push_back(r.tokens);
  return texts;
}

// Sequences whose text is the one that plain decoding gave; its figures come first.
std::int64_t identical(const std::vector<Measured>& all, const Measured& m) {
  const auto plain = std::ranges::find(all, m.sequences, &Measured::sequences);
  std::int64_t same = 0;
  for (std::size_t k = 0; k < m.texts.size(); ++k) same += m.texts[k] == plain->texts[k] ? 1 : 0;
  return same;
}

class Bench {
 public:
  explicit Bench(const BenchEngineOptions& options)
      : options_(options),
        depths_(options.draft_tokens),
        registry_({}, {}),
        settings_(settings_of(options, folder_)),
        prompts_(prompts_of(options, settings_.target)) {
    depths_.insert(depths_.begin(), kPlain);
    settings_.max_model_len = longest(prompts_) + options.tokens;
    const bool is_tiny = options.model.model == kTiny;  // its loading takes no time to tell of
    engine_.emplace(settings_, registry_, [is_tiny](const std::string& line) {
      if (!is_tiny) std::fprintf(stderr, "%s\n", line.c_str());
    });
  }

  // Plain and each depth in turn, so that a machine that slows down slows all.
  std::vector<Measured> run() {
    std::vector<Measured> all;
    for (const int n : options_.sequences)
      for (const int depth : depths_) all.push_back({n, depth});
    CountProgress progress("bench engine", "tokens", tokens_of_all(), 0);
    const auto emitted = [&](std::span<const Token> tokens) {
      progress.update(emitted_ += std::ssize(tokens));
    };
    for (const int depth : depths_) load(warm_up(), depth, emitted);
    for (int repeat = 0; repeat < options_.repeats; ++repeat)
      for (Measured& m : all) m.repeats.push_back(load(m.sequences, m.depth, emitted, &m.texts));
    progress.end();
    for (Measured& m : all) std::ranges::sort(m.repeats, {}, &LoadFigures::tokens_per_s);
    return all;
  }

  const engine::Settings& settings() const { return settings_; }
  std::string isa() const { return engine_->isa(); }

 private:
  int warm_up() const {  // sequences: each prompt that will be asked for
    return std::min(std::ranges::max(options_.sequences), static_cast<int>(prompts_.size()));
  }

  std::int64_t tokens_of_all() const {
    std::int64_t sequences = warm_up();
    for (const int n : options_.sequences) sequences += n * options_.repeats;
    return sequences * std::ssize(depths_) * options_.tokens;
  }

  LoadFigures load(int sequences, int depth,
                   const std::function<void(std::span<const Token>)>& emitted,
                   Texts* texts = nullptr) {
    BatchLog log(settings_.trace_level, settings_.trace_topk);
    std::vector<engine::Result> results(sequences);
    for (int k = 0; k < sequences; ++k) {
      engine::Request r = prompts_[k % prompts_.size()];
      r.key = engine::request_key("bench", static_cast<std::uint64_t>(k), 0, 0);
      r.decoding = decoding_of(depth);
      engine_->submit(std::move(r), {emitted, {}, [&results, k](engine::Result mine) {
                                       results[k] = std::move(mine);
                                     }});
    }
    while (engine_->iterate(log)) {
    }
    for (const engine::Result& r : results)
      if (!r.error.empty()) throw Error("bench engine: a request ended with: " + r.error);
    if (texts) *texts = texts_of(results);
    return figures_of(results, log.batches());
  }

  const BenchEngineOptions& options_;
  std::vector<int> depths_;
  ScratchFolder folder_;
  plugin::Registry registry_;
  engine::Settings settings_;
  std::vector<engine::Request> prompts_;
  std::optional<engine::Engine> engine_;
  std::int64_t emitted_ = 0;
};

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

void print_table(const std::vector<Measured>& all) {
  std::vector<std::string> heads{"sequences", "mode",   "K",           "tokens/s", "x plain",
                                 "ms/token",  "p95 ms", "tokens/step", "step ms"};
  for (const char* part : kParts) heads.push_back(std::string(part) + " %");
  experiment::Table table(std::move(heads));
  double plain = 0;
  for (const Measured& m : all) {
    const LoadFigures& f = m.median();
    if (m.depth == kPlain) plain = f.tokens_per_s;
    std::vector<std::string> row{std::to_string(m.sequences),
                                 name_of(m.depth),
                                 std::to_string(m.depth),
                                 fixed(f.tokens_per_s, 1),
                                 fixed(f.tokens_per_s / plain, 2),
                                 fixed(f.median_ms, 2),
                                 fixed(f.p95_ms, 2),
                                 fixed(f.tokens_per_step, 2),
                                 fixed(f.step_ms, 2)};
    for (const double share : f.shares) row.push_back(fixed(100 * share, 1));
    table.add(std::move(row));
  }
  std::printf("%s", table.text().c_str());
}

files::json::object to_json(const Measured& m, std::int64_t identical) {
  const LoadFigures& f = m.median();
  files::json::object shares;
  for (std::size_t k = 0; k < kParts.size(); ++k) shares[kParts[k]] = f.shares[k];
  return {{"sequences", m.sequences},
          {"mode", name_of(m.depth)},
          {"draft_tokens", m.depth},
          {"identical", identical},
          {"tokens_per_s", f.tokens_per_s},
          {"token_ms", {{"median", f.median_ms}, {"p95", f.p95_ms}}},
          {"tokens_per_step", f.tokens_per_step},
          {"step_ms", f.step_ms},
          {"shares", shares}};
}

void print_json(const BenchEngineOptions& o, const Bench& bench, const std::vector<Measured>& all) {
  files::json::array runs;
  for (const Measured& m : all) runs.push_back(to_json(m, identical(all, m)));
  const files::json::object result{{"model", o.model.model},
                                   {"draft", o.draft},
                                   {"drafter", bench.settings().draft.name},
                                   {"requantize", o.model.requantize},
                                   {"head_tokens", o.model.head_tokens},
                                   {"tokens", o.tokens},
                                   {"temperature", o.temperature},
                                   {"top_p", o.top_p},
                                   {"repeats", o.repeats},
                                   {"trace", o.trace},
                                   {"isa", bench.isa()},
                                   {"threads", o.model.threads},
                                   {"runs", runs}};
  std::printf("%s\n", files::json::serialize(result).c_str());
}

}  // namespace

int bench_engine(const BenchEngineOptions& options) {
  check(options);
  Bench bench(options);
  const std::vector<Measured> all = bench.run();
  options.json ? print_json(options, bench, all) : print_table(all);
  return 0;
}

}  // namespace redline::tool
