// SPDX-License-Identifier: Apache-2.0
#include "files/model_store.hpp"

#include <cstdlib>

#include "files/json.hpp"
#include "files/utf8.hpp"
#include "redline/error.hpp"

namespace redline::files {
namespace {

std::filesystem::path registry_file() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto installed = program.parent_path().parent_path() / "share/redline/models.json";
  return std::filesystem::exists(installed) ? installed : std::filesystem::path(REDLINE_REGISTRY);
}

ModelSource source_from(const json::object& entry) {
  ModelSource source;
  source.kind = json::value_to<std::string>(entry.at("kind"));
  if (source.kind == "huggingface") {
    source.repository = json::value_to<std::string>(entry.at("repository"));
    source.file = json::value_to<std::string>(entry.at("file"));
  } else {
    source.packages = json::value_to<std::vector<std::string>>(entry.at("packages"));
    source.member = json::value_to<std::string>(entry.at("member"));
  }
  return source;
}

KnownModel model_from(const json::object& entry) {
  KnownModel model;
  model.name = json::value_to<std::string>(entry.at("name"));
  model.about = json::value_to<std::string>(entry.at("about"));
  model.sha256 = json::value_to<std::string>(entry.at("sha256"));
  model.bytes = json::value_to<std::uint64_t>(entry.at("bytes"));
  for (const json::value& source : entry.at("sources").as_array())
    model.sources.push_back(source_from(source.as_object()));
  return model;
}

}  // namespace

std::filesystem::path cache_folder() {
  const auto variable = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const auto chosen = variable("REDLINE_CACHE"); !chosen.empty()) return chosen;
  // The XDG rules say to ignore a relative path.
  if (const auto xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "redline";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".cache/redline";
  throw InputError("there is no cache folder: neither REDLINE_CACHE nor HOME is set; set one");
}

std::vector<KnownModel> known_models() {
  const auto file = registry_file();
  const json::value registry = read_json(file);
  std::vector<KnownModel> models;
  try {
    for (const json::value& entry : registry.as_object().at("models").as_array())
      models.push_back(model_from(entry.as_object()));
  } catch (const std::exception& e) {
    throw InputError(file.string() + ": not a model registry: " + e.what() +
                     "; install redline again");
  }
  return models;
}

std::filesystem::path cached_path(const KnownModel& model) {
  return cache_folder() / "models" / (model.name + ".gguf");
}

std::filesystem::path locate_model(const std::string& name_or_path) {
  if (std::filesystem::exists(name_or_path)) return name_or_path;
  std::string known;
  for (const KnownModel& model : known_models()) {
    known += (known.empty() ? "" : ", ") + model.name;
    if (model.name != name_or_path) continue;
    const auto path = cached_path(model);
    if (std::filesystem::exists(path)) return path;
    throw InputError("model " + model.name + " is not in " + path.parent_path().string() +
                     "; fetch it with: redline models fetch " + model.name);
  }
  throw InputError("model " + printable(name_or_path, 400) +
                   " is neither a file nor a known name (known are " + known + ")");
}

}  // namespace redline::files
