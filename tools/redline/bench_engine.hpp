// SPDX-License-Identifier: Apache-2.0
// `redline bench engine`: many sequences at once, plain and speculative in turn: throughput, time
// per token, and where a step's time goes.
#pragma once
#include <string>
#include <vector>

#include "redline/loaded_model.hpp"

namespace redline::tool {

struct BenchEngineOptions {
  ModelOptions model;            // "tiny": generated for the occasion; what makes a model cheaper
                                 // is the draft's
  std::string draft;             // a model; n-grams are drafted without one
  std::string prompt;            // JSON lines, taken in turn; texts of our own without it
  std::string trace = "counts";  // what is recorded meanwhile, in memory
  std::vector<int> sequences = {1, 2, 4, 8, 16};
  std::vector<int> draft_tokens = {4};  // of a draft: each of these in turn
  int tokens = 64, repeats = 3;
  double temperature = 0, top_p = 1;
  bool json = false;
};
int bench_engine(const BenchEngineOptions& options);

}  // namespace redline::tool
