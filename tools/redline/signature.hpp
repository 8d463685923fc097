// SPDX-License-Identifier: Apache-2.0
// `redline bench --signature`: a hash of the ids that tiny generated models emit under several
// strategies. The same on every machine and instruction set; a change that moves it changes
// results.
#pragma once
#include <string>

namespace redline::tool {

struct SignatureOptions {
  bool wanted = false;
  std::string isa;  // "": the best of this machine
  int threads = 2;
  bool verbose = false;  // one line a run
};
int signature(const SignatureOptions& options);  // prints the hash

}  // namespace redline::tool
