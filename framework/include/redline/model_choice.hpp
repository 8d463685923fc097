// SPDX-License-Identifier: Apache-2.0
// Which model a drafter opens, and what makes it cheaper. Its visit() is part of the drafter's own,
// so that every drafter has these parameters under the same names.
#pragma once
#include <string>

#include "redline/parameters.hpp"

namespace redline {
inline namespace v1 {

struct ModelChoice {
  std::string model;                // a name or a path
  std::string requantize = "none";  // its matrices, while it is loaded
  int head_tokens = 0;              // that get a logit: the most frequent ones; 0: all
  std::string frequencies;          // the file that says which they are

  void visit(ParameterVisitor& v) {
    v("model", model, "the draft model: a name or a path");
    v("requantize", requantize, {"none", "q4_0"},
      "what its matrices of more than 4 bits become at load");
    v("head_tokens", head_tokens, {0, 1 << 24},
      "only so many most frequent tokens are drafted; 0: any");
    v("frequencies", frequencies, "how frequent tokens are: a file of `redline frequencies`");
  }
};

}  // namespace v1
}  // namespace redline
