// SPDX-License-Identifier: Apache-2.0
#include "experiment/source.hpp"

#include <algorithm>

#include "experiment/cell.hpp"

namespace redline::experiment {
namespace {

using config::Value;

struct Renamed {
  std::string_view old_path, successor;
};
// Names of other tools and of earlier drafts of this schema, and where their meaning lives now.
constexpr std::array kRenamed{
    Renamed{"drafter", "draft"},
    Renamed{"rule", "accept"},
    Renamed{"acceptance", "accept"},
    Renamed{"samplers", "sampler"},
    Renamed{"cells", "matrix"},
    Renamed{"datasets", "dataset"},
    Renamed{"generation", "generate"},
    Renamed{"seed", "seeds"},
    Renamed{"target", "model.target"},
    Renamed{"temperature", "sampler"},
    Renamed{"max_tokens", "generate.max_tokens"},
    Renamed{"model.draft", "draft.model"},
    Renamed{"generate.max_new_tokens", "generate.max_tokens"},
    Renamed{"generate.temperature", "sampler"},
    Renamed{"generate.num_warmups", "generate.warmup"},
    Renamed{"engine.tensor_parallel_size", "engine.tp"},
    Renamed{"engine.draft_tensor_parallel_size", "engine.draft_tp"},
    Renamed{"engine.kv_cache_dtype", "engine.kv_dtype"},
    Renamed{"engine.gpu_memory_utilization", "engine.memory_utilization"},
    Renamed{"engine.block_size", "engine.page_tokens"},
    Renamed{"engine.max_num_batched_tokens", "engine.rows_per_step"},
};

void refuse_renamed(const Value& root) {
  for (const Renamed& renamed : kRenamed)
    if (const Value* value = config::get(root, renamed.old_path))
      value->refuse("is called '" + std::string(renamed.successor) + "' here");
}

// `name` alone stands for {name: name}, so that a parameter can be laid over it.
void name_in_full(Value& plugin) {
  if (plugin.type != Value::Type::SCALAR) return;
  Value full = Value::map();
  full.where = plugin.where;
  full.key = plugin.key;
  full.put("name", plugin);
  plugin = std::move(full);
}

}  // namespace

bool is_plugin_group(std::string_view key) {
  return std::ranges::find(kPluginGroups, key) != kPluginGroups.end();
}

void name_plugins(Value& group_holder) {
  for (auto& [key, value] : group_holder.fields) {
    if (is_plugin_group(key)) name_in_full(value);
    if (key == "sampler") {
      if (value.type != Value::Type::LIST) {
        Value list = Value::list_of({value});
        list.where = value.where;
        list.key = value.key;
        value = std::move(list);
      }
      for (Value& link : value.items) name_in_full(link);
    }
  }
}

// A plugin named anew comes with its own parameters; other groups are laid over key by key.
void lay_over(Value& base, const Value& top) {
  for (const auto& [key, value] : top.fields) {
    if (key.find('.') != std::string::npos) {
      config::set(base, key, value);
      continue;
    }
    Value* old = base.find(key);
    const bool merges = old && old->type == Value::Type::MAP && value.type == Value::Type::MAP &&
                        !(is_plugin_group(key) && value.find("name"));
    if (merges) {
      lay_over(*old, value);
    } else {
      base.put(key, value);
    }
  }
}

Source read_source(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  Source source{config::load(file), std::filesystem::absolute(file).parent_path(), overrides};
  if (source.root.type != Value::Type::MAP)
    throw InputError(file.string() + ": holds no experiment; its first line is 'redline: 1'");
  name_plugins(source.root);
  for (const std::string& assignment : overrides) config::apply_override(source.root, assignment);
  name_plugins(source.root);
  source.root.where = file.filename().string();
  refuse_renamed(source.root);
  source.root.only(
      {"redline", "name", "model", "draft", "accept", "sampler", "length", "engine", "dataset",
       "generate", "seeds", "matrix", "trace", "parallel", "plugin_path", "compare"},
      "");
  const Value* version = source.root.find("redline");
  if (version == nullptr)
    source.root.refuse("lacks 'redline: 1', the version of the config's schema");
  if (version->text() != "1")
    version->refuse("is the schema version '" + version->text() + "'; this build reads 1");
  return source;
}

std::vector<std::filesystem::path> plugin_path_of(const Source& source) {
  const Value* path = source.root.find("plugin_path");
  return path ? read_paths(*path, source.folder) : std::vector<std::filesystem::path>{};
}

}  // namespace redline::experiment
