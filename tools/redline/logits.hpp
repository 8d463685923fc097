// SPDX-License-Identifier: Apache-2.0
// `redline logits`: the model's logits after every token of given texts. The door for checks from
// outside.
#pragma once
#include <string>

#include "redline/loaded_model.hpp"

namespace redline::tool {

struct LogitsOptions {
  ModelOptions model;
  std::string ids;  // one JSON list of ids a line
  int top = 10;     // of each position
  bool json = false;
  std::string full;  // npy file of all logits; empty: none
};
int logits(const LogitsOptions& options);

}  // namespace redline::tool
