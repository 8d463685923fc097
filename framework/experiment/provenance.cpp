// SPDX-License-Identifier: Apache-2.0
#include "experiment/provenance.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "experiment/build_facts.hpp"
#include "experiment/run_folder.hpp"
#include "files/model_store.hpp"
#include "files/sha256.hpp"

namespace redline::experiment {
namespace {

using config::Value;
namespace fs = std::filesystem;

std::string fresh_uuid() {
  std::string uuid;
  std::getline(std::ifstream("/proc/sys/kernel/random/uuid"), uuid);
  return uuid;
}

std::vector<const engine::PluginChoice*> choices_of(const Cell& cell) {
  std::vector<const engine::PluginChoice*> all{&cell.engine.draft, &cell.engine.accept,
                                               &cell.engine.length};
  for (const engine::PluginChoice& link : cell.engine.sampler) all.push_back(&link);
  return all;
}

Value models_value(const Plan& plan) {
  Value models = Value::map();
  for (const std::string& name : models_of(plan)) {
    const fs::path path = files::locate_model(name);
    Value model = Value::map().put("path", Value::of(path.string()));
    model.put("bytes", Value::of(fs::file_size(path)));
    models.put(name, std::move(model.put("sha256", Value::of(model_sha256(name)))));
  }
  return models;
}

Value plugins_value(const Plan& plan, const plugin::Registry& registry) {
  std::set<std::string> names;
  for (const Cell& cell : plan.cells)
    for (const engine::PluginChoice* choice : choices_of(cell)) names.insert(choice->name);
  Value plugins = Value::map();
  for (const std::string& name : names) {
    const plugin::Provenance& from = registry.find(name).from;
    Value plugin = Value::map().put("path", Value::of(from.path.string()));
    plugin.put("sha256", Value::of(from.sha256));
    plugins.put(name, std::move(plugin.put("build_tag", Value::of(from.build_tag))));
  }
  return plugins;
}

// What plugins are told under this name, once each.
std::set<std::string> arguments_of(const Plan& plan, std::string_view name) {
  std::set<std::string> values;
  for (const Cell& cell : plan.cells)
    for (const engine::PluginChoice* choice : choices_of(cell))
      for (const plugin::Argument& argument : choice->arguments)
        if (argument.name == name && !argument.value.empty()) values.insert(argument.value);
  return values;
}

Value data_value(const Plan& plan) {
  std::map<std::string, std::string> hashes;
  for (const Cell& cell : plan.cells)
    for (const DataSetChoice& set : cell.data) hashes.emplace(set.path.string(), set.sha256);
  for (const std::string& file : arguments_of(plan, "frequencies"))
    hashes.emplace(file, files::sha256_file(file));
  Value data = Value::map();
  for (const auto& [path, sha256] : hashes) data.put(path, Value::of(sha256));
  return data;
}

}  // namespace

std::vector<std::string> models_of(const Plan& plan) {
  std::set<std::string> names = arguments_of(plan, "model");
  for (const Cell& cell : plan.cells) names.insert(cell.engine.target);
  for (const std::string& name : names) files::locate_model(name);
  return {names.begin(), names.end()};
}

std::string model_sha256(const std::string& name_or_path) {
  const fs::path path = files::locate_model(name_or_path);
  for (const files::KnownModel& known : files::known_models()) {
    std::error_code none;
    const bool fetched = fs::equivalent(path, files::cached_path(known), none);
    if (fetched && fs::file_size(path) == known.bytes) return known.sha256;
  }
  return files::sha256_file(path);
}

Value provenance_of(const Plan& plan, const plugin::Registry& registry,
                    const std::vector<std::string>& argv) {
  Value facts = Value::map(), arguments = Value::list_of({}), environment = Value::map();
  for (const std::string& argument : argv) arguments.items.push_back(Value::of(argument));
  for (const char* name : {"REDLINE_CACHE", "REDLINE_PLUGIN_PATH", "REDLINE_LOG"})
    if (const char* value = std::getenv(name)) environment.put(name, Value::of(value));
  facts.put("run_id", Value::of(fresh_uuid())).put("started_utc", Value::of(utc_now()));
  facts.put("argv", std::move(arguments)).put("environment", std::move(environment));
  facts.put("build", build_facts()).put("machine", machine_facts());
  facts.put("models", models_value(plan)).put("plugins", plugins_value(plan, registry));
  return facts.put("data", data_value(plan));
}

}  // namespace redline::experiment
