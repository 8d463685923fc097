// SPDX-License-Identifier: Apache-2.0
#include "experiment/dry_run.hpp"

#include <filesystem>
#include <set>

#include "experiment/data_set.hpp"
#include "experiment/table.hpp"
#include "files/model_store.hpp"

namespace redline::experiment {
namespace {

std::string told(const engine::PluginChoice& choice) {
  std::string text = choice.name;
  for (const plugin::Argument& a : choice.arguments)
    if (!a.value.empty()) text += " " + a.name + "=" + a.value;
  return text;
}

std::string told(const std::vector<engine::PluginChoice>& chain) {
  std::string text;
  for (const engine::PluginChoice& link : chain) text += (text.empty() ? "" : ", ") + told(link);
  return text;
}

// The target's file, or what is missing and how to get it.
std::string target_line(const std::string& name) {
  try {
    const auto path = files::locate_model(name);
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    char text[32];
    std::snprintf(text, sizeof text, "%.1f MB", bytes / 1e6);
    return "target " + name + ": " + path.string() + " (" + text + ")";
  } catch (const InputError& e) {
    return std::string("target ") + e.what();
  }
}

}  // namespace

std::string dry_run_text(const Plan& plan, bool json) {
  if (json) return config::to_pretty_json(to_value(plan));
  Table table({"cell", "baseline", "draft", "accept", "length", "sampler", "items", "max_tokens",
               "seed", "folder"});
  std::set<std::string> targets;
  std::size_t requests = 0;
  for (const Cell& cell : plan.cells) {
    const std::size_t items = load_items(cell.data).size();
    requests += items;
    targets.insert(cell.engine.target);
    table.add({cell.name, cell.baseline.empty() ? "-" : cell.baseline, told(cell.engine.draft),
               told(cell.engine.accept), told(cell.engine.length), told(cell.engine.sampler),
               std::to_string(items), std::to_string(cell.generate.max_tokens),
               std::to_string(cell.seed), folder_of(cell)});
  }
  std::string out = "# the resolved config, every default written out\n" +
                    config::to_yaml(to_value(plan)) + "\n" + table.text() + "\n";
  out += std::to_string(plan.cells.size()) + " cells, " + std::to_string(requests) +
         " requests beside warm-up\n";
  for (const std::string& target : targets) out += target_line(target) + "\n";
  for (const std::string& note : plan.notes) out += "note: " + note + "\n";
  return out + "nothing was run\n";
}

}  // namespace redline::experiment
