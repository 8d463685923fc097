// SPDX-License-Identifier: Apache-2.0
// What the suite finds wrong with a plugin of the build, in its own words.
#pragma once
#include <catch2/catch.hpp>

#include "check/conformance.hpp"
#include "step/cell.hpp"

namespace redline::check {

using Values = std::map<std::string, std::string>;

// Every failed check and what it says; `only`: of the check of this name alone.
inline std::string faults_of(const std::string& plugin, const std::string& only = {},
                             const Values& values = {}) {
  std::string said;
  const Subject subject(step::registry(), step::registry().find(plugin), values);
  for (const Result& r : examine(subject, {.limit = std::chrono::minutes(2), .only = only}))
    if (!r.holds()) said += r.check + ": " + r.answer.detail + "\n";
  return said;
}

}  // namespace redline::check
