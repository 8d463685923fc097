// SPDX-License-Identifier: Apache-2.0
#include "check/conformance.hpp"

#include <algorithm>
#include <iterator>

namespace redline::check {
namespace {

constexpr char kFiguresBelow = '\x1e';  // between the words of an answer and its figures

Answer answer_of(const Check& check, std::chrono::milliseconds limit) {
  return run_apart(
      [&check] {
        const Said said = check.run();
        if (!said.figures.exists()) return said.text;
        return said.text + kFiguresBelow + config::to_json(said.figures);
      },
      limit);
}

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

// An odometer over outcomes and a comparison of texts need runs that can be made again.
void leave_out_repeats(std::vector<Check>& checks) {
  constexpr std::string_view kRepeating[] = {
      "stop in the draft", "isolation",        "cold and warm",         "law",
      "law at the edges",  "law of two steps", "law of random contexts"};
  for (Check& check : checks)
    if (std::ranges::find(kRepeating, check.name) != std::end(kRepeating))
      check.run = [] { return Said("reads the clock: not compared"); };
}

std::vector<Check> checks_of(const Subject& s, Effort effort) {
  if (s.listing().kind == Kind::DRAFTER)
    s.drafter_contract();  // or each child would ask for itself
  std::vector<Check> all = contract_checks(s);
  const auto add = [&all](std::vector<Check> more) {
    std::ranges::move(more, std::back_inserter(all));
  };
  add(text_checks(s, effort));
  add(random_draft_checks(s, effort));
  if (s.listing().kind == Kind::DRAFTER) add(draft_checks(s, effort));
  if (s.listing().kind == Kind::SAMPLER) add(sampler_checks(s));
  if (s.listing().kind == Kind::LENGTH) add(length_checks(s));
  add(law_checks(s, effort));
  add(cost_checks(s));
  if (s.reads() == Reads::CLOCK) leave_out_repeats(all);
  return all;
}

}  // namespace

std::vector<Result> examine(const Subject& s, const Examination& how) {
  std::vector<Result> results;
  const auto put = [&](const Check& check) {
    if (how.on_start) how.on_start(check.name);
    Answer answer = answer_of(check, how.limit);
    std::string figures;
    if (const auto at = answer.detail.find(kFiguresBelow); at != std::string::npos) {
      figures = answer.detail.substr(at + 1);
      answer.detail.resize(at);
    }
    results.push_back({s.listing().name, check.name, std::move(answer), std::move(figures)});
    return results.back().answer.kind;
  };
  if (put({"made", [&s] { return introduce(s); }}) != Answer::Kind::PASSED) return results;
  for (const Check& check : checks_of(s, how.effort))
    if ((how.only.empty() || how.only == check.name) && put(check) == Answer::Kind::TIMED_OUT)
      break;
  return results;
}

}  // namespace redline::check
