// SPDX-License-Identifier: Apache-2.0
#include "experiment/cell.hpp"

#include <algorithm>

#include "files/sha256.hpp"

namespace redline::experiment {
namespace {

using config::Value;
namespace fs = std::filesystem;

Value typed(const std::string& text) {  // a parameter as it was typed: number, truth or text
  Value value = Value::of(std::string_view(text));
  value.quoted = false;
  const std::string bare = config::to_json(value);
  value.quoted = bare.starts_with('"');
  return value;
}

std::string canonical(const std::string& text) {  // 0.800000 and 0.8 are one value
  const Value value = typed(text);
  return value.quoted ? text : config::to_json(value);
}

Value plugin_value(const engine::PluginChoice& choice) {
  Value value = Value::map().put("name", Value::of(choice.name));
  for (const auto& argument : choice.arguments) value.put(argument.name, typed(argument.value));
  return value;
}

// A file's name without the folder it lies in: of models, and of a draft's token frequencies.
void without_folders(Value& value, std::string_view key = {}) {
  for (Value& item : value.items) without_folders(item);
  for (auto& field : value.fields) without_folders(field.second, field.first);
  if (value.quoted && (value.scalar.ends_with(".gguf") || key == "frequencies"))
    value.scalar = fs::path(value.scalar).filename().string();
}

Value engine_value(const engine::Settings& e) {
  Value group = Value::map();
  group.put("device", Value::of(e.device)).put("isa", Value::of(e.isa.empty() ? "best" : e.isa));
  group.put("threads", Value::of(e.threads))
      .put("tp", Value::of(e.tp))
      .put("draft_tp", Value::of(e.draft_tp));
  group.put("dtype", Value::of("file")).put("kv_dtype", Value::of(kernels::name(e.kv_type)));
  group.put("max_model_len", Value::of(e.max_model_len));
  group.put("max_num_seqs", Value::of(e.max_num_seqs)).put("kv_pages", Value::of(e.kv_pages));
  group.put("huge_pages", Value::of(e.huge_pages));
  group.put("prefix_cache", Value::of(e.prefix_cache));
  group.put("memory_utilization", Value::of(e.memory_utilization));
  group.put("page_tokens", Value::of(16)).put("rows_per_step", Value::of(e.rows_per_step));
  group.put("numeric_mode", Value::of("row_invariant"));
  group.put("plugin_slow_s", Value::of(e.plugin_calls.slow_s));
  group.put("plugin_limit_s", Value::of(e.plugin_calls.limit_s));
  return group;
}

Value data_value(const std::vector<DataSetChoice>& data) {
  Value list = Value::list_of({});
  for (const DataSetChoice& d : data) {
    Value item = Value::map();
    item.put("path", Value::of(d.path.string())).put("name", Value::of(d.name));
    item.put("offset", Value::of(d.offset));
    item.put("limit", d.limit ? Value::of(d.limit) : Value{});
    item.put("sha256", Value::of(d.sha256));
    if (!d.score.empty()) item.put("score", Value::of(d.score));
    list.items.push_back(std::move(item));
  }
  return list;
}

Value generate_value(const Generate& g) {
  Value group = Value::map(), stop = Value::list_of({});
  for (const std::string& text : g.stop) stop.items.push_back(Value::of(text));
  group.put("max_tokens", Value::of(g.max_tokens)).put("min_tokens", Value::of(g.min_tokens));
  group.put("stop", std::move(stop)).put("ignore_eos", Value::of(g.ignore_eos));
  return group.put("warmup", Value::of(g.warmup));
}

}  // namespace

Value to_value(const Cell& cell) {
  Value root = Value::map(), sampler = Value::list_of({}), path = Value::list_of({});
  for (const auto& link : cell.engine.sampler) sampler.items.push_back(plugin_value(link));
  for (const auto& folder : cell.plugin_path) path.items.push_back(Value::of(folder.string()));
  root.put("name", Value::of(cell.name)).put("baseline", Value::of(cell.baseline));
  root.put("model", Value::map()
                        .put("target", Value::of(cell.engine.target))
                        .put("chat_template", Value::of(cell.chat_template)));
  root.put("draft", plugin_value(cell.engine.draft));
  root.put("accept", plugin_value(cell.engine.accept));
  root.put("sampler", std::move(sampler)).put("length", plugin_value(cell.engine.length));
  root.put("engine", engine_value(cell.engine)).put("dataset", data_value(cell.data));
  root.put("generate", generate_value(cell.generate)).put("seed", Value::of(cell.seed));
  root.put("trace", Value::map()
                        .put("level", Value::of(name_of(cell.engine.trace_level)))
                        .put("topk", Value::of(cell.engine.trace_topk))
                        .put("optimal", Value::of(cell.engine.trace_optimal)));
  root.put("parallel",
           Value::map()
               .put("launcher", Value::of(cell.launcher.empty() ? "none" : cell.launcher))
               .put("backend", Value::of(cell.engine.backend))
               .put("rank_timeout_s", Value::of(cell.engine.rank_timeout_s)));
  return root.put("plugin_path", std::move(path));
}

void write_out_parameters(Cell& cell, const Effective& effective) {
  const auto fill = [&](Kind kind, engine::PluginChoice& choice) {
    try {
      effective(kind, choice.name, {});  // is there one of this name and kind?
    } catch (const InputError& e) {
      const auto place = cell.named_at.find(choice.name);
      throw InputError(place == cell.named_at.end() ? e.what() : place->second + ": " + e.what());
    }
    plugin::Arguments full;
    for (const plugin::Parameter& p : effective(kind, choice.name, choice.arguments)) {
      const auto given = std::ranges::find(choice.arguments, p.name, &plugin::Argument::name);
      full.push_back(
          {p.name, canonical(p.fallback),
           given == choice.arguments.end() ? "default of " + choice.name : given->where});
    }
    choice.arguments = std::move(full);
  };
  fill(Kind::DRAFTER, cell.engine.draft);
  fill(Kind::RULE, cell.engine.accept);
  fill(Kind::LENGTH, cell.engine.length);
  for (engine::PluginChoice& link : cell.engine.sampler) fill(Kind::SAMPLER, link);
}

bool is_plain(const Cell& cell) { return cell.engine.draft.name == "draft_none"; }

bool is_greedy(const Cell& cell) {
  return std::ranges::any_of(cell.engine.sampler, [](const engine::PluginChoice& link) {
    return std::ranges::any_of(link.arguments, [](const plugin::Argument& a) {
      return (a.name == "t" || a.name == "temperature") && config::to_json(typed(a.value)) == "0";
    });
  });
}

std::string hash_of(const Cell& cell) {
  Value root = to_value(cell);
  without_folders(root);
  std::erase_if(root.fields, [](const auto& field) {
    return field.first == "name" || field.first == "baseline" || field.first == "plugin_path";
  });
  for (Value& item : root.find("dataset")->items)
    std::erase_if(item.fields, [](const auto& field) { return field.first == "path"; });
  files::Sha256 hash;
  hash.add(config::to_json(root));
  return hash.hex();
}

std::string folder_of(const Cell& cell) { return cell.name + "-" + hash_of(cell).substr(0, 8); }

std::string settings_of(const Cell& cell) {
  Value root = to_value(cell);
  std::erase_if(root.fields, [](const auto& field) {
    return field.first == "name" || field.first == "baseline" || field.first == "draft" ||
           field.first == "accept" || field.first == "length";
  });
  return config::to_json(root);
}

}  // namespace redline::experiment
