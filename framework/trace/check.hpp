// SPDX-License-Identifier: Apache-2.0
// The rules a trace keeps (docs/traces.md), verified from the file alone.
#pragma once
#include "trace/reader.hpp"

namespace redline::trace {

struct CheckResult {
  std::vector<std::string> violations;  // the first of each rule, in words
  std::uint64_t violation_count = 0;
  std::uint64_t requests = 0, steps = 0, unfinished_steps = 0;  // unfinished: of no stored request
};
CheckResult check(const Reader& trace);

}  // namespace redline::trace
