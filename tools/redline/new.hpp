// SPDX-License-Identifier: Apache-2.0
// `redline new`: a plugin's own small project, from the templates of this program.
#pragma once
#include <filesystem>
#include <string>

namespace redline::tool {

struct NewOptions {
  std::string kind;           // drafter, rule, sampler, length
  std::string name;           // of the plugin and of its folder
  std::filesystem::path dir;  // where the folder is made; the working directory when empty
};
int make_new(const NewOptions& options);

}  // namespace redline::tool
