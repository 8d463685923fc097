// SPDX-License-Identifier: Apache-2.0
#include "redline/models.hpp"

#include <algorithm>
#include <cstdio>

#include "files/json.hpp"
#include "files/model_fetch.hpp"
#include "files/model_store.hpp"
#include "files/utf8.hpp"
#include "redline/error.hpp"
#include "redline/progress.hpp"

namespace redline::tool {
namespace {

bool is_fetched(const files::KnownModel& model) {
  std::error_code missing;
  return std::filesystem::file_size(files::cached_path(model), missing) == model.bytes && !missing;
}

std::vector<files::KnownModel> chosen(const FetchOptions& options) {
  const auto known = files::known_models();
  if (options.all) return known;
  std::vector<files::KnownModel> models;
  for (const std::string& name : options.names) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& model) { return model.name == name; });
    if (found == known.end())
      throw InputError("no model " + files::printable(name, 400) +
                       " is known; `redline models` lists them");
    models.push_back(*found);
  }
  if (models.empty()) throw InputError("name the models to fetch, or say --all");
  return models;
}

void fetch(const files::KnownModel& model, const FetchOptions& options) {
  if (files::is_verified(model)) {
    std::printf("%s: already here, %s\n", model.name.c_str(), files::cached_path(model).c_str());
    return;
  }
  ByteProgress progress(model.name, model.bytes);
  files::FetchSettings settings;
  settings.source = options.source;
  if (!options.endpoint.empty()) settings.endpoint = options.endpoint;
  settings.say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  settings.progress = [&](std::uint64_t done) { progress.update(done); };
  const auto path = files::fetch_model(model, settings);
  progress.end();
  std::printf("%s: fetched and checked, %s\n", model.name.c_str(), path.c_str());
}

}  // namespace

int models(const ModelsOptions& options) {
  const auto known = files::known_models();
  if (options.json) {
    files::json::array list;
    for (const auto& model : known)
      list.push_back({{"name", model.name},
                      {"about", model.about},
                      {"bytes", model.bytes},
                      {"sha256", model.sha256},
                      {"fetched", is_fetched(model)},
                      {"path", files::cached_path(model).string()}});
    std::printf("%s\n", files::json::serialize(list).c_str());
    return 0;
  }
  std::size_t width = 4;
  for (const auto& model : known) width = std::max(width, model.name.size());
  std::printf("%-*s  %10s  %-8s  %s\n", static_cast<int>(width), "name", "size", "fetched", "path");
  for (const auto& model : known) {
    const bool here = is_fetched(model);
    std::printf("%-*s  %10s  %-8s  %s\n", static_cast<int>(width), model.name.c_str(),
                megabytes(model.bytes).c_str(), here ? "yes" : "no",
                here ? files::cached_path(model).c_str() : "-");
  }
  return 0;
}

int models_fetch(const FetchOptions& options) {
  for (const auto& model : chosen(options)) fetch(model, options);
  return 0;
}

}  // namespace redline::tool
