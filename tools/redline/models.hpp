// SPDX-License-Identifier: Apache-2.0
// `redline models`: what is known, what is here; and fetching.
#pragma once
#include <string>
#include <vector>

namespace redline::tool {

struct ModelsOptions {
  bool json = false;
};
int models(const ModelsOptions& options);

struct FetchOptions {
  std::vector<std::string> names;
  bool all = false;
  std::string source, endpoint;  // "": the registry's order, Hugging Face's own address
};
int models_fetch(const FetchOptions& options);

}  // namespace redline::tool
