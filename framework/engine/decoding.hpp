// SPDX-License-Identifier: Apache-2.0
// Which plugins decode a request, with which parameters.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plugin/parameters.hpp"

namespace redline::engine {

struct PluginChoice {
  std::string name;
  plugin::Arguments arguments;
};

struct Decoding {  // what is left out is the engine's own; the drafter draft_none turns drafting
                   // off
  std::optional<PluginChoice> draft = {}, accept = {}, length = {};
  std::optional<std::vector<PluginChoice>> sampler = {};
};

}  // namespace redline::engine
