// SPDX-License-Identifier: Apache-2.0
#include "redline/info.hpp"

#include <cstdio>
#include <thread>

#include "files/json.hpp"
#include "files/model_store.hpp"
#include "plugin/search.hpp"
#include "redline/kernels/isa.hpp"

namespace redline::tool {
namespace {

namespace json = files::json;

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

json::object facts() {
  json::array sets, here;
  for (const kernels::Isa isa : kernels::supported()) sets.emplace_back(kernels::name(isa));
  for (const files::KnownModel& model : files::known_models())
    if (std::filesystem::exists(files::cached_path(model))) here.emplace_back(model.name);
  json::array folders;
  for (const auto& folder : plugin::environment_folders()) folders.emplace_back(folder.string());
  folders.emplace_back(plugin::install_folder().string());
  return {{"version", REDLINE_VERSION},
          {"build_type", REDLINE_BUILD_TYPE},
          {"compiler", compiler()},
          {"instruction_sets", sets},
          {"instruction_set_used", kernels::name(kernels::best())},
          {"cores", std::thread::hardware_concurrency()},
          {"cache_folder", files::cache_folder().string()},
          {"models_fetched", here},
          {"plugin_folders", folders}};
}

std::string words(const json::value& value) {
  if (value.is_string()) return value.as_string().empty() ? "-" : value.as_string().c_str();
  if (!value.is_array()) return json::serialize(value);
  std::string out;
  for (const json::value& item : value.as_array()) out += (out.empty() ? "" : ", ") + words(item);
  return out.empty() ? "none" : out;
}

}  // namespace

int info(const InfoOptions& options) {
  const json::object all = facts();
  if (options.json) {
    std::printf("%s\n", json::serialize(all).c_str());
    return 0;
  }
  for (const auto& [key, value] : all)
    std::printf("%-21s %s\n", std::string(key).c_str(), words(value).c_str());
  return 0;
}

}  // namespace redline::tool
