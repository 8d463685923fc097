// SPDX-License-Identifier: Apache-2.0
// What a cell of requests with prompts takes under length_auto, by the stored costs that it reads:
// a draft is fed a prompt only where that can be earned back. The policy as built.
#include <catch2/catch.hpp>
#include <random>

#include "priced_host.hpp"
#include "step/cell.hpp"

namespace redline::step {
namespace {

struct Setup {
  double chance;  // that a drafted token is kept
  int prompt, tokens, requests;
  double draft_ms = 11, draft_row_ms = 1.5;  // a pass, and each row of it beyond the first
};

Costs costs_of(const Setup& s) {
  Costs costs;
  costs.target.points = {{0, 1, 28}, {0, 5, 37.5}, {0, 105, 37.5 + 100 * 4.5}};
  costs.draft.points = {{0, 1, s.draft_ms}, {0, 101, s.draft_ms + 100 * s.draft_row_ms}};
  return costs;
}

struct Bill {
  double ms = 0, plain_ms = 0;
  int fed = 0, tokens = 0, drafting = 0;
  double loss() const { return ms / plain_ms - 1; }
};

class Cell {
 public:
  explicit Cell(const Setup& setup)
      : setup_(setup),
        host_(costs_of(setup)),
        policy_(registry().make<DraftLength>("length_auto", {}, host_)) {}

  void request(std::mt19937& g, Bill& bill) {
    std::vector<Token> text(setup_.prompt);
    const int end = setup_.prompt + setup_.tokens;
    const redline::Sequence before = view(text, end);
    const auto state = policy_->begin(before);
    tell({before, state.get()}, Draft(4), 0);  // the first token is prefill's
    text.push_back(0);
    for (int fed = 0; std::ssize(text) < end;) {
      const redline::Sequence s = view(text, end);
      const Turn turn{s, state.get()};
      const int depth = std::min(policy_->choose({&turn, 1}).front().max_depth, s.tokens_left - 1);
      const int kept = step(turn, depth, g, bill);
      if (depth > 0) {
        const auto behind = static_cast<int>(std::ssize(text)) - 1 - fed;
        bill.ms += host_.costs.catch_up_ns(behind, setup_.prompt);
        bill.fed += fed == 0;
        fed = static_cast<int>(std::ssize(text)) + kept;
      }
      text.insert(text.end(), kept + 1, 0);
    }
  }

 private:
  static redline::Sequence view(const std::vector<Token>& text, int end) {
    return {
        .id = 1, .tokens = text, .tokens_left = end - static_cast<int>(text.size()), .vocab = 4};
  }
  void tell(const Turn& turn, const Draft& draft, int kept) {
    const Outcome o{turn, draft, {kept, 0}, {}, {}};
    policy_->observe({&o, 1});
  }
  int step(const Turn& turn, int depth, std::mt19937& g, Bill& bill) {
    std::uniform_real_distribution<double> uniform;
    Draft draft(4);
    int kept = 0;
    for (int d = 0; d < depth; ++d) {
      draft.append({d, 0});
      kept += kept == d && uniform(g) < setup_.chance;
    }
    tell(turn, draft, kept);
    bill.ms += host_.costs.step_ns(depth, depth, setup_.prompt);
    bill.plain_ms += (kept + 1) * host_.costs.target.ns(1, setup_.prompt);
    bill.tokens += kept + 1, bill.drafting += depth > 0;
    return kept;
  }

  Setup setup_;
  PricedHost host_;
  std::unique_ptr<DraftLength> policy_;
};

Bill bill_of(const Setup& setup, unsigned seed) {
  Cell cell(setup);
  std::mt19937 g(seed);
  Bill bill;
  for (int k = 0; k < setup.requests; ++k) cell.request(g, bill);
  return bill;
}

constexpr double kTargetMs = 28, kTargetRowMs = 4.5;

TEST_CASE(
    "The target as its own draft is never fed: all kept, it would still not earn its prompt") {
  for (const int prompt : {20, 100, 2000})
    for (const int tokens : {16, 64, 512}) {
      const Bill bill = bill_of({1, prompt, tokens, 8, kTargetMs, kTargetRowMs}, 1);
      INFO("prompts of " << prompt << ", " << tokens << " tokens");
      CHECK(bill.fed == 0);
      CHECK(bill.loss() == Approx(0).margin(1e-12));
    }
}

TEST_CASE("A useless draft loses at most 3 % over a cell, its prompts included") {
  for (const double chance : {0., .05, .15})
    for (unsigned seed = 0; seed < 30; ++seed) {
      const Bill bill = bill_of({chance, 100, 128, 8}, seed);
      INFO("chance " << chance << " seed " << seed << " fed " << bill.fed);
      CHECK(bill.loss() <= .03);
    }
}

TEST_CASE("A useful draft is fed every prompt that it can earn back") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const Bill bill = bill_of({.9, 100, 128, 20}, seed);
    INFO("seed " << seed);
    CHECK(bill.fed == 20);
    CHECK(bill.loss() < -.2);
  }
}

TEST_CASE("A short request after a long prompt is decoded plainly, whatever its draft would keep") {
  const Bill bill = bill_of({1, 1000, 32, 20}, 1);  // a second to feed, half of one to gain
  CHECK(bill.fed == 0);
  CHECK(bill_of({1, 1000, 256, 20}, 1).fed == 20);
}

TEST_CASE("Prompts that are not earned back stay within the budget and one of them") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Setup setup{.5, 300, 64, 60};  // all kept it would pay; half of them gain too little
    const Bill bill = bill_of(setup, seed);
    const double prompt_ms = (setup.prompt + setup.tokens) * setup.draft_row_ms;
    INFO("seed " << seed << " fed " << bill.fed << " loss " << bill.loss());
    CHECK(bill.fed >= 1);
    CHECK(bill.fed < 20);
    CHECK(bill.ms - bill.plain_ms <= .02 * bill.ms + prompt_ms + 8 * 60);
  }
}

}  // namespace
}  // namespace redline::step
