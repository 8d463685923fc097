// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "stage.hpp"

using namespace redline;
using stage::registry;

namespace {

constexpr float kBanned = -std::numeric_limits<float>::infinity();
const std::vector<Token> kText{0, 1, 1, 2}, kStops{3};
const Sequence kSequence{1, kText, 2, 100, 5, kStops};  // output: 1, 2

std::unique_ptr<Sampler> sampler(const std::string& name, const plugin::Arguments& arguments) {
  stage::Host host;
  return registry().make<Sampler>(name, arguments, host);
}
// The logits after a link that has seen the sequence and then `path`.
std::vector<float> after(const Sampler& link, std::vector<float> logits,
                         const std::vector<Token>& path = {}) {
  const auto memory = link.begin(kSequence);
  for (const Token t : kText) link.advance(*memory, t);
  const auto forked = memory->clone();
  for (const Token t : path) link.advance(*forked, t);
  Logits row(std::move(logits));
  link.apply(*forked, row);
  std::vector<float> out;
  for (Token t = 0; t < row.vocab(); ++t) out.push_back(row.at(t));
  return out;
}

}  // namespace

TEST_CASE("penalties count the prompt, the output and the drafted path") {
  const auto repetition = sampler("sample_penalty", {{"repetition", "2", ""}});
  CHECK(after(*repetition, {1, 2, -3, 4, 5}) == std::vector<float>{.5F, 1, -6, 4, 5});
  CHECK(after(*repetition, {1, 2, -3, 4, 5}, {4}) == std::vector<float>{.5F, 1, -6, 4, 2.5F});
  const auto frequency = sampler("sample_penalty", {{"frequency", "1", ""}});
  CHECK(after(*frequency, {9, 9, 9, 9, 9}) == std::vector<float>{9, 8, 8, 9, 9});
  CHECK(after(*frequency, {9, 9, 9, 9, 9}, {1, 1}) == std::vector<float>{9, 6, 8, 9, 9});
  const auto presence = sampler("sample_penalty", {{"presence", "1", ""}});
  CHECK(after(*presence, {9, 9, 9, 9, 9}, {1, 1, 4}) == std::vector<float>{9, 8, 8, 9, 8});
}

TEST_CASE("biases add, bans ban, and both say what they cannot read") {
  const auto bias = sampler("sample_bias", {{"add", "1:-100, 2:2.5", ""}, {"ban", "0,4", ""}});
  CHECK(after(*bias, {1, 1, 1, 1, 1}) == std::vector<float>{kBanned, -99, 3.5F, 1, kBanned});
  CHECK_THROWS_WITH(sampler("sample_bias", {{"add", "7", ""}}),
                    "sample_bias: add: '7' lacks its value: write id:value");
  CHECK_THROWS_WITH(sampler("sample_bias", {{"ban", "1,,2", ""}}),
                    "sample_bias: ban: '' is no number");
  const auto beyond = sampler("sample_bias", {{"ban", "5", ""}});
  CHECK_THROWS_WITH(after(*beyond, {1, 1, 1, 1, 1}),
                    "sample_bias.apply: logits: token 5 is not below V = 5");
}

TEST_CASE("the text cannot end before its least length, counted along the path") {
  const auto wait = sampler("sample_min_tokens", {{"n", "3", ""}});  // two are out
  CHECK(after(*wait, {1, 1, 1, 1, 1})[3] == kBanned);
  CHECK(after(*wait, {1, 1, 1, 1, 1}, {0})[3] == 1);
}

TEST_CASE("temperature scales, and 0 keeps the first of the best") {
  CHECK(after(*sampler("sample_temperature", {{"t", "0.5", ""}}), {1, 2, 3, 4, 5})[1] == 4);
  CHECK(after(*sampler("sample_temperature", {{"t", "0", ""}}), {1, 5, 3, 5, 4}) ==
        std::vector<float>{kBanned, 5, kBanned, kBanned, kBanned});
  CHECK_THROWS_WITH(sampler("sample_temperature", {{"t", "1e-6", ""}}),
                    Catch::Contains("0 is greedy, else use 0.001 or more"));
}

TEST_CASE("cuts keep what they say and their neutral values keep all") {
  const std::vector<float> logits{std::log(.1F), std::log(.4F), std::log(.05F), std::log(.3F),
                                  std::log(.15F)};
  const auto kept = [&](const std::string& name, const plugin::Arguments& a) {
    int count = 0;
    for (const float x : after(*sampler(name, a), logits)) count += x > kBanned;
    return count;
  };
  CHECK(kept("sample_top_k", {{"k", "2", ""}}) == 2);
  CHECK(kept("sample_top_p", {{"p", "0.8", ""}}) == 3);
  CHECK(kept("sample_min_p", {{"p", "0.3", ""}}) == 3);
  for (const char* name : {"sample_top_k", "sample_top_p", "sample_min_p", "sample_temperature"})
    CHECK(kept(name, {}) == 5);
}

TEST_CASE("the slots put the links in the canonical order") {
  const char* order[] = {"sample_penalty", "sample_bias",  "sample_temperature",
                         "sample_top_k",   "sample_top_p", "sample_min_p"};
  for (std::size_t k = 1; k < std::size(order); ++k)
    CHECK(sampler(order[k - 1], {})->slot() < sampler(order[k], {})->slot());
  CHECK(sampler("sample_min_tokens", {})->slot() == Slot::BIAS);
}
