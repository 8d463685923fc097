// SPDX-License-Identifier: Apache-2.0
// The experiment as typed: a config with the command line's overrides applied.
#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "config/value.hpp"

namespace redline::experiment {

struct Source {
  config::Value root;            // plugins named in full, unknown keys refused
  std::filesystem::path folder;  // where its relative paths start
  std::vector<std::string> overrides;
};
Source read_source(const std::filesystem::path& file, const std::vector<std::string>& overrides);
std::vector<std::filesystem::path> plugin_path_of(const Source& source);

inline constexpr std::array<std::string_view, 3> kPluginGroups{"draft", "accept", "length"};
bool is_plugin_group(std::string_view key);

// "draft: draft_ngram" becomes "draft: {name: draft_ngram}", so that a parameter can be laid over.
void name_plugins(config::Value& groups);
// A plugin named anew comes with its own parameters; other groups are laid over key by key.
void lay_over(config::Value& base, const config::Value& top);

}  // namespace redline::experiment
