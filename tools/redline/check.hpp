// SPDX-License-Identifier: Apache-2.0
// `redline check`: the conformance suite of one plugin, or of all in a file.
#pragma once
#include <string>
#include <vector>

#include "redline/check_model.hpp"

namespace redline::tool {

struct CheckOptions {
  std::string plugin;               // a file, or a name that the search path has
  std::vector<std::string> values;  // parameter=value
  bool json = false, full = false;
  std::string vectors;  // a file of the user's own: they are enumerated, nothing else is checked
  CheckModelOptions on_model;  // with a model: its text is checked, not the suite run
};
int check(const CheckOptions& options);  // 1 when a check failed

}  // namespace redline::tool
