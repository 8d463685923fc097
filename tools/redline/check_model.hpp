// SPDX-License-Identifier: Apache-2.0
// `redline check --model`: a plugin's text on a real model, held to plain decoding's.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "plugin/registry.hpp"

namespace redline::tool {

struct CheckModelOptions {
  std::string model, draft;  // files or known names; "tiny": generated for the occasion
  std::string drafter;       // "NAME key=value ...": instead of the one that fits a rule
  std::string data;          // JSON lines of prompts; random ids without it
  std::string state;         // file; check-PLUGIN.json without it
  std::int64_t tokens = 250'000;
  double temperature = 0.8;
  std::uint64_t seed = 1;
  int text_tokens = 256, threads = 0;
  bool resume = false, json = false;
};

// 1 when the text is not plain decoding's, though the plugin promises it.
int check_model(const plugin::Registry& registry, const plugin::Listing& plugin,
                const std::map<std::string, std::string>& values, const CheckModelOptions& options);

}  // namespace redline::tool
