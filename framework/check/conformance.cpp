// SPDX-License-Identifier: Apache-2.0
#include "check/conformance.hpp"

namespace redline::check {
namespace {

// Made and asked what it promises, for what comes after takes both for granted.
std::string introduce(const Subject& s) {
  const Cell cell(s.registry(), s.place_in_text());
  const std::string kind(plugin::word_for(s.listing().kind));
  if (s.listing().kind != Kind::RULE) return kind;
  switch (s.rule_contract().claim) {
    case Claim::CONDITIONALLY_LOSSLESS:
      return kind + ", conditionally lossless";
    case Claim::MARGINALLY_LOSSLESS:
      return kind + ", marginally lossless";
    default:
      return kind + ", approximate";
  }
}

}  // namespace

std::vector<Result> examine(const Subject& s, std::chrono::milliseconds limit) {
  std::vector<Result> results;
  const auto put = [&](const Check& check) {
    results.push_back({s.listing().name, check.name, run_apart(check.run, limit)});
    return results.back().answer.kind;
  };
  if (put({"made", [&s] { return introduce(s); }}) != Answer::Kind::PASSED) return results;
  std::vector<Check> checks = contract_checks(s);
  for (Check& law : law_checks(s)) checks.push_back(std::move(law));
  for (const Check& check : checks)
    if (put(check) == Answer::Kind::TIMED_OUT) break;
  return results;
}

}  // namespace redline::check
