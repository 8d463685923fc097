// SPDX-License-Identifier: Apache-2.0
// The conformance suite of one plugin: what it must survive, and the law of what it emits.
#pragma once
#include <string>
#include <vector>

#include "check/apart.hpp"
#include "check/subject.hpp"

namespace redline::check {

struct Result {
  std::string plugin, check;
  Answer answer;
  std::string figures = {};  // a JSON document: kept tokens of each vector and shape; "": none
  bool holds() const {       // a refused draft is never decoded wrongly
    return answer.kind == Answer::Kind::PASSED || answer.kind == Answer::Kind::REFUSED;
  }
};

struct Examination {
  Effort effort = Effort::QUICK;
  std::chrono::milliseconds limit = std::chrono::seconds(30);  // of one check
  std::function<void(const std::string& check)> on_start = {};
  std::string only = {};  // the check of this name alone, after "made"; "": all
};
// Each check in its own process. The suite ends early when the plugin cannot be made, or when a
// check is not answered within the limit.
std::vector<Result> examine(const Subject& subject, const Examination& how = {});

}  // namespace redline::check
