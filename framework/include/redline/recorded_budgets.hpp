// SPDX-License-Identifier: Apache-2.0
// What a length policy decided in a run that was traced: budgets and answers of each request, step
// by step.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "redline/draft_length.hpp"

namespace redline {
inline namespace v1 {

struct RecordedStep {
  struct Answer {
    int depth;  // of the parent it was asked about
    bool may_grow;
  };
  Budget budget;  // 0: plain, also where the policy was not asked
  std::vector<Answer> answers;
};
// By the request's id and its own count of steps.
using RecordedBudgets = std::map<std::uint64_t, std::map<std::uint32_t, RecordedStep>>;

}  // namespace v1
}  // namespace redline
