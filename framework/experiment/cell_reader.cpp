// SPDX-License-Identifier: Apache-2.0
// A cell from its groups: what may stand in a config, and what each key means.
#include <algorithm>
#include <array>
#include <limits>

#include "experiment/cell.hpp"
#include "experiment/score.hpp"
#include "redline/kernels/isa.hpp"
#include "redline/kernels/kv_page.hpp"

namespace redline::experiment {
namespace {

using config::Value;
namespace fs = std::filesystem;

constexpr int kMaxRanks = 1024;
constexpr std::array<std::string_view, 4> kLevels{"counts", "chosen", "topk", "full"};

// Settings this build knows by name and has one value for: another one is refused, never ignored.
void only_value(const Value& group, std::string_view key, std::string_view supported,
                std::string_view why) {
  const Value* value = group.find(key);
  if (value == nullptr || value->text() == supported) return;
  value->refuse("is '" + value->text() + "', and this build has '" + std::string(supported) +
                "' alone: " + std::string(why));
}

// Of a plugin's parameter: what lies beside the config when it is no absolute path.
bool is_file(std::string_view parameter, std::string_view text) {
  const bool is_file = parameter == "frequencies" || parameter == "trace";
  return text.ends_with(".gguf") || (is_file && !text.empty());
}

fs::path resolved(const Value& value, const fs::path& folder) {
  const fs::path path = value.text();
  if (path.empty()) value.refuse("must be a path, but it is empty");
  const bool typed = value.where.starts_with("command line");
  return fs::weakly_canonical(path.is_absolute() || typed ? fs::absolute(path) : folder / path);
}

// A file named in a parameter lies where the target would: beside the config.
std::string as_argument(std::string_view key, const Value& value, const fs::path& folder) {
  if (value.type == Value::Type::LIST || value.type == Value::Type::MAP)
    value.refuse("must be one value: a parameter of a plugin is a number, true, false or a text");
  return is_file(key, value.text()) ? resolved(value, folder).string() : value.text();
}

// `fallback`: the plugin meant where a group only sets parameters, "" for none.
engine::PluginChoice read_plugin(const Value& value, const fs::path& folder, Cell& cell,
                                 const std::string& fallback = "") {
  const Value* name = value.type == Value::Type::SCALAR ? &value : value.find("name");
  if (value.type == Value::Type::LIST || !value.exists() || (name == nullptr && fallback.empty()))
    value.refuse("must be the name of a plugin, or {name: ..., parameter: value}");
  engine::PluginChoice choice{name ? name->text() : fallback, {}};
  cell.named_at.emplace(choice.name, (name ? *name : value).where);
  for (const auto& [key, parameter] : value.fields)
    if (key != "name")
      choice.arguments.push_back({key, as_argument(key, parameter, folder), parameter.where});
  return choice;
}

void read_model(const Value& root, const fs::path& folder, Cell& cell) {
  const Value* model = root.find("model");
  if (model == nullptr) root.refuse("the experiment lacks 'model: {target: NAME or path}'");
  model->only({"target", "chat_template"}, "model");
  const Value& target = model->at("target");
  cell.engine.target = as_argument("target", target, folder);
  if (const Value* name = model->find("chat_template")) cell.chat_template = name->text();
}

// The whole chain under the settings' usual names; what would change nothing is left out.
struct StandardLink {
  std::string_view setting, plugin, parameter, neutral;
};
constexpr std::array kStandard{
    StandardLink{"repetition_penalty", "sample_penalty", "repetition", "1"},
    StandardLink{"frequency_penalty", "sample_penalty", "frequency", "0"},
    StandardLink{"presence_penalty", "sample_penalty", "presence", "0"},
    StandardLink{"logit_bias", "sample_bias", "add", ""},
    StandardLink{"temperature", "sample_temperature", "t", "none"},
    StandardLink{"top_k", "sample_top_k", "k", "0"},
    StandardLink{"top_p", "sample_top_p", "p", "1"},
    StandardLink{"min_p", "sample_min_p", "p", "0"},
};

std::vector<engine::PluginChoice> standard_chain(const Value& settings) {
  settings.only({"name", "repetition_penalty", "frequency_penalty", "presence_penalty",
                 "logit_bias", "temperature", "top_k", "top_p", "min_p"},
                "sampler: standard");
  std::vector<engine::PluginChoice> chain;
  for (const StandardLink& link : kStandard) {
    const Value* given = settings.find(link.setting);
    const std::string value = given ? given->text() : std::string(link.neutral);
    const bool temperature = link.setting == "temperature";
    if (value == link.neutral && !temperature) continue;
    if (chain.empty() || chain.back().name != link.plugin)
      chain.push_back({std::string(link.plugin), {}});
    chain.back().arguments.push_back({std::string(link.parameter), given ? value : "1",
                                      given ? given->where : "default of standard"});
  }
  return chain;
}

void read_link(const Value& link, const fs::path& folder, Cell& cell) {
  const Value* name = link.find("name");
  if (name && name->text() == "standard") {
    for (engine::PluginChoice& choice : standard_chain(link))
      cell.engine.sampler.push_back(std::move(choice));
  } else {
    cell.engine.sampler.push_back(read_plugin(link, folder, cell));
  }
}

// `generate.min_tokens` acts through the chain like every other edit of the logits.
void add_min_tokens(Cell& cell) {
  const bool there = std::ranges::any_of(
      cell.engine.sampler, [](const auto& link) { return link.name == "sample_min_tokens"; });
  if (cell.generate.min_tokens > 0 && !there)
    cell.engine.sampler.push_back(
        {"sample_min_tokens",
         {{"n", std::to_string(cell.generate.min_tokens), "generate.min_tokens"}}});
}

void read_plugins(const Value& root, const fs::path& folder, Cell& cell) {
  engine::Settings& e = cell.engine;
  if (const Value* draft = root.find("draft"))
    e.draft = read_plugin(*draft, folder, cell, e.draft.name);
  if (const Value* accept = root.find("accept"))
    e.accept = read_plugin(*accept, folder, cell, e.accept.name);
  if (const Value* length = root.find("length"))
    e.length = read_plugin(*length, folder, cell, e.length.name);
  if (const Value* sampler = root.find("sampler")) {
    cell.engine.sampler.clear();
    if (sampler->type == Value::Type::LIST) {
      for (const Value& link : sampler->items) read_link(link, folder, cell);
    } else {
      read_link(*sampler, folder, cell);
    }
  }
  if (const Value* path = root.find("plugin_path")) cell.plugin_path = read_paths(*path, folder);
}

void read_engine(const Value& root, Cell& cell) {
  cell.engine.cost_table = true;  // every trace says what forwards cost
  const Value* group = root.find("engine");
  if (group == nullptr) return;
  group->only({"device", "isa", "threads", "tp", "draft_tp", "dtype", "kv_dtype", "huge_pages",
               "max_model_len", "max_num_seqs", "kv_pages", "prefix_cache", "memory_utilization",
               "page_tokens", "rows_per_step", "numeric_mode", "plugin_slow_s", "plugin_limit_s"},
              "engine");
  only_value(*group, "device", "cpu", "run it on the CPU");
  only_value(*group, "dtype", "file", "weights keep the type of the model's file");
  only_value(*group, "page_tokens", "16", "a page holds 16 positions");
  only_value(*group, "numeric_mode", "row_invariant",
             "a row's logits never depend on its neighbours");
  engine::Settings& e = cell.engine;
  if (const Value* isa = group->find("isa")) {
    e.isa = isa->text() == "best" ? "" : isa->text();
    if (!e.isa.empty() && !kernels::isa_from(e.isa))
      isa->refuse("must be best, portable, avx2, avx_vnni or avx512_vnni, not '" + e.isa + "'");
  }
  if (const Value* v = group->find("tp")) e.tp = v->integer(1, kMaxRanks);
  if (const Value* v = group->find("draft_tp")) e.draft_tp = v->integer(1, kMaxRanks);
  if (const Value* v = group->find("threads")) e.threads = v->integer(0, 1024);
  if (const Value* v = group->find("max_model_len")) e.max_model_len = v->integer(2, 1 << 24);
  if (const Value* v = group->find("max_num_seqs")) e.max_num_seqs = v->integer(1, 1 << 12);
  if (const Value* v = group->find("kv_pages")) e.kv_pages = v->integer(0, 1 << 28);
  if (const Value* v = group->find("kv_dtype")) {
    const auto type = kernels::kv_type_from(v->text());
    if (!type) v->refuse("must be f16, f32 or q8_0, not '" + v->text() + "'");
    e.kv_type = *type;
  }
  if (const Value* v = group->find("huge_pages")) e.huge_pages = v->boolean();
  if (const Value* v = group->find("prefix_cache")) e.prefix_cache = v->boolean();
  if (const Value* v = group->find("rows_per_step")) e.rows_per_step = v->integer(1, 1 << 16);
  if (const Value* v = group->find("memory_utilization"))
    e.memory_utilization = v->number(1e-6, 1.0);
  if (const Value* v = group->find("plugin_slow_s")) e.plugin_calls.slow_s = v->number(1e-3, 86400);
  if (const Value* v = group->find("plugin_limit_s"))
    e.plugin_calls.limit_s = v->number(1e-3, 86400);
}

DataSetChoice read_data_set(const Value& value, const fs::path& folder) {
  DataSetChoice choice;
  if (value.type == Value::Type::SCALAR) {
    choice.path = resolved(value, folder);
  } else {
    value.only({"path", "name", "offset", "limit", "sha256", "score"}, "dataset");
    choice.path = resolved(value.at("path"), folder);
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (const Value* v = value.find("offset")) choice.offset = v->integer(0, kMost);
    if (const Value* v = value.find("limit"); v && v->exists()) choice.limit = v->integer(1, kMost);
    if (const Value* v = value.find("sha256")) choice.sha256 = v->text();
    if (const Value* v = value.find("name")) choice.name = v->text();
    if (const Value* v = value.find("score")) {
      choice.score = v->text();
      if (choice.score != kScoreJsonFields)
        v->refuse("must be json_fields, not '" + v->text() + "'");
    }
  }
  if (choice.name.empty()) choice.name = choice.path.stem().string();
  return choice;
}

void read_data(const Value& root, const fs::path& folder, Cell& cell) {
  const Value* group = root.find("dataset");
  if (group == nullptr) root.refuse("the experiment lacks 'dataset: [{path: FILE.jsonl}]'");
  if (group->type == Value::Type::LIST) {
    for (const Value& item : group->items) cell.data.push_back(read_data_set(item, folder));
  } else {
    cell.data.push_back(read_data_set(*group, folder));
  }
  if (cell.data.empty()) group->refuse("names no data set");
}

void read_generate(const Value& root, Cell& cell) {
  const Value* group = root.find("generate");
  if (group == nullptr) return;
  group->only({"max_tokens", "min_tokens", "stop", "ignore_eos", "warmup"}, "generate");
  Generate& g = cell.generate;
  if (const Value* v = group->find("max_tokens")) g.max_tokens = v->integer(1, 1 << 24);
  if (const Value* v = group->find("min_tokens")) g.min_tokens = v->integer(0, g.max_tokens);
  if (const Value* v = group->find("ignore_eos")) g.ignore_eos = v->boolean();
  if (const Value* v = group->find("warmup")) g.warmup = v->integer(0, 1000);
  if (const Value* v = group->find("stop")) {
    for (const Value& item : v->list()) g.stop.push_back(item.text());
    if (std::ranges::find(g.stop, "") != g.stop.end()) v->refuse("holds an empty text");
  }
}

void read_trace(const Value& root, Cell& cell) {
  const Value* group = root.find("trace");
  if (group == nullptr) return;
  group->only({"level", "topk", "optimal"}, "trace");
  if (const Value* v = group->find("level")) {
    const auto it = std::ranges::find(kLevels, v->text());
    if (it == kLevels.end())
      v->refuse("must be counts, chosen, topk or full, not '" + v->text() + "'");
    cell.engine.trace_level = static_cast<trace::Level>(it - kLevels.begin());
  }
  if (const Value* v = group->find("topk")) cell.engine.trace_topk = v->integer(1, 4096);
  if (const Value* v = group->find("optimal")) {
    cell.engine.trace_optimal = v->boolean();
    if (cell.engine.trace_optimal && cell.engine.trace_level == trace::Level::COUNTS)
      v->refuse("is a column of /nodes, which level counts does not store; take chosen or more");
  }
}

// A launcher starts processes, which are ranks through MPI.
void read_parallel(const Value& root, Cell& cell) {
  const Value* group = root.find("parallel");
  if (group == nullptr) return;
  group->only({"launcher", "backend", "rank_timeout_s"}, "parallel");
  if (const Value* v = group->find("launcher"); v && v->text() != "none") {
    cell.launcher = v->text();
    cell.engine.backend = "mpi";
  }
  if (const Value* v = group->find("backend")) {
    if (v->text() != "threads" && v->text() != "mpi")
      v->refuse("must be threads or mpi, not '" + v->text() + "'");
    cell.engine.backend = v->text();
  }
  if (const Value* v = group->find("rank_timeout_s"))
    cell.engine.rank_timeout_s = v->number(0.1, 86400);
}

}  // namespace

Cell read_cell(const Value& root, const fs::path& folder) {
  Cell cell;
  read_model(root, folder, cell);
  read_plugins(root, folder, cell);
  read_engine(root, cell);
  read_data(root, folder, cell);
  read_generate(root, cell);
  add_min_tokens(cell);
  read_trace(root, cell);
  read_parallel(root, cell);
  if (const Value* name = root.find("name")) cell.name = name->text();
  if (const Value* seed = root.find("seed")) cell.seed = seed->natural();
  if (const Value* baseline = root.find("baseline")) cell.baseline = baseline->text();
  return cell;
}

std::vector<fs::path> read_paths(const Value& list, const fs::path& folder) {
  if (list.type == Value::Type::SCALAR) return {resolved(list, folder)};
  std::vector<fs::path> paths;
  for (const Value& item : list.list()) paths.push_back(resolved(item, folder));
  return paths;
}

std::string_view name_of(trace::Level level) { return kLevels.at(static_cast<std::size_t>(level)); }

}  // namespace redline::experiment
