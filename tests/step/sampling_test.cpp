// SPDX-License-Identifier: Apache-2.0
// What enumeration cannot see, by sampling with fixed seeds: noise that drafter and rule share.
#include <catch2/catch.hpp>

#include "step/enumeration.hpp"

namespace redline::step {
namespace {

struct Mean {
  double accepted = 0;
  std::vector<double> first;  // law of the first token
};

Mean sample(const Pair& tables, const char* rule, const char* shape, const char* mode, int runs) {
  const auto vocab = static_cast<std::int32_t>(tables.p.at({}).size());
  Cell cell({.vocab = vocab,
             .target = law_of(tables.p),
             .draft = law_of(tables.q),
             .drafter = {"test_table", {{"shape", shape}, {"mode", mode}}},
             .rule = {rule}});
  Philox noise;
  Mean mean{0, std::vector<double>(vocab)};
  for (int k = 0; k < runs; ++k) {
    Sequence s = cell.open({0}, 0, 100, static_cast<std::uint64_t>(k));
    const Progress made = cell.run(s, noise);
    cell.step.forget(s);
    mean.accepted += double(made.accepted_by_rule) / runs;
    mean.first[made.committed[0]] += 1. / runs;
  }
  return mean;
}

constexpr int kRuns = 60000;
const double kSpread = 4 / std::sqrt(double(kRuns));  // standard deviations are below 1

TEST_CASE("Shared noise accepts as derived") {
  const auto accepted = [](const Pair& t, const char* shape) {
    return sample(t, "accept_gumbel", shape, "coupled", kRuns).accepted;
  };
  CHECK(std::abs(accepted(VA, "1") - 41. / 65) < kSpread / 2);
  CHECK(std::abs(accepted(VB, "1") - 19. / 35) < kSpread / 2);
  CHECK(std::abs(accepted(VA, "1;1") - 1.028639) < kSpread);
}

TEST_CASE("Philox through the whole step gives each rule's acceptance and p's first token") {
  const Pair pair = flat({.5, .3, .2}, {.2, .5, .3});
  const struct {
    const char *rule, *mode;
    double accepted;
  } cases[] = {{"accept_ratio", "iid", .7},
               {"accept_delta", "top", .3},
               {"accept_match", "iid", .31},
               {"accept_delta", "iid", .31}};
  for (const auto& c : cases) {
    INFO(c.rule << ' ' << c.mode);
    const Mean mean = sample(pair, c.rule, "1", c.mode, kRuns);
    CHECK(std::abs(mean.accepted - c.accepted) < kSpread / 2);
    for (Token t = 0; t < 3; ++t) CHECK(std::abs(mean.first[t] - pair.p.at({})[t]) < kSpread / 2);
  }
}

TEST_CASE("A bad draft row never brings back the token it offered") {
  const Pair pair = flat({0, .6F, .4F}, {1, 0, 0});
  Cell cell({.vocab = 3,
             .target = law_of(pair.p),
             .draft = [](std::span<const Token>) { return std::vector<float>{0, NAN, 0}; },
             .rule = {"accept_ratio"}});
  Philox noise;
  Sequence s = cell.open({1}, 0, 500);
  while (s.tokens_left > 0) {
    const Progress made = cell.run(s, noise);
    CHECK(made.committed == List<Token>{s.tokens.back()});
    CHECK(s.tokens.back() != 0);
    CHECK(made.bad_draft.empty() == (s.tokens_left == 0));  // the last step drafts nothing
  }
}

}  // namespace
}  // namespace redline::step
