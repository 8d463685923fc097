// SPDX-License-Identifier: Apache-2.0
// `redline plugins`: what can be loaded here, and what each takes.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace redline::tool {

struct PluginsOptions {
  std::string name;  // empty: all
  std::vector<std::filesystem::path> files, folders;
  bool json = false;
};
int plugins(const PluginsOptions& options);

}  // namespace redline::tool
