// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "step/chain.hpp"

namespace redline::step {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Count {
  int tokens = 0;
};
// Notes in the logit of `mark` when it ran, and how many tokens it has seen.
class Mark final : public SamplerOf<Count> {
 public:
  Mark(Slot slot, Token mark, std::vector<Token>& order)
      : slot_(slot), mark_(mark), order_(order) {}

 private:
  Slot do_slot() const override { return slot_; }
  void step(Count& c, Token) const override { ++c.tokens; }
  void edit(const Count& c, Logits& row) const override {
    order_.push_back(mark_);
    row.set(mark_, static_cast<float>(c.tokens));
  }
  Slot slot_;
  Token mark_;
  std::vector<Token>& order_;
};
struct Nothing {};
class Greedy final : public SamplerOf<Nothing> {
  Slot do_slot() const override { return Slot::TEMPERATURE; }
  void edit(const Nothing&, Logits& row) const override { row.keep_argmax(); }
};

redline::Sequence view(std::span<const Token> tokens) { return {1, tokens, 0, 10, 4}; }

Chain greedy() {
  std::vector<std::unique_ptr<Sampler>> links;
  links.push_back(std::make_unique<Greedy>());
  return Chain(std::move(links));
}

TEST_CASE("Links run in slot order, those of one slot as they were named") {
  std::vector<Token> order;
  std::vector<std::unique_ptr<Sampler>> links;
  links.push_back(std::make_unique<Mark>(Slot::WARP, 0, order));
  links.push_back(std::make_unique<Mark>(Slot::BIAS, 1, order));
  links.push_back(std::make_unique<Mark>(Slot::PENALTY, 2, order));
  links.push_back(std::make_unique<Mark>(Slot::BIAS, 3, order));
  const Chain chain(std::move(links));
  const std::vector<Token> text{1};
  chain.apply(chain.begin(view(text)), std::vector<float>(4, 0));
  CHECK(order == std::vector<Token>{2, 1, 3, 0});
}

TEST_CASE("A fork knows its own path and leaves the other as it was") {
  std::vector<Token> order;
  std::vector<std::unique_ptr<Sampler>> links;
  links.push_back(std::make_unique<Mark>(Slot::BIAS, 3, order));
  const Chain chain(std::move(links));
  const std::vector<Token> text{1, 2};
  const auto root = chain.begin(view(text));
  const auto child = chain.fork(root, 0);
  const auto below = chain.fork(child, 1);
  const std::vector<float> zeros(4, 0);
  const auto weight = [&](const Chain::Path& at) {
    const Row row = chain.apply(at, zeros);
    return std::log(row.at(3) / row.at(0));
  };
  CHECK(weight(below) == Approx(4).epsilon(1e-6));
  CHECK(weight(child) == Approx(3).epsilon(1e-6));
  CHECK(weight(root) == Approx(2).epsilon(1e-6));
}

TEST_CASE("An empty chain is the softmax, and the model's logits stay untouched") {
  const Chain chain;
  const std::vector<float> logits{0, std::log(2.F), -kInfinity, std::log(5.F)}, before = logits;
  const Row row = chain.apply({}, logits);
  CHECK(row.at(0) == Approx(.125).epsilon(1e-6));
  CHECK(row.at(1) == Approx(.25).epsilon(1e-6));
  CHECK(row.at(2) == 0);
  CHECK(row.at(3) == Approx(.625).epsilon(1e-6));
  CHECK(logits == before);
}

TEST_CASE("A row's entropy comes with its softmax, by the same bits on every instruction set") {
  std::vector<float> logits(1000);
  for (std::size_t t = 0; t < logits.size(); ++t) logits[t] = 5 * std::sin(static_cast<float>(t));
  logits[3] = -kInfinity;
  std::set<double> found;
  for (const kernels::Isa isa : kernels::supported()) {
    const Row row = Chain({}, kernels::ops(isa)).apply({}, logits);
    double entropy = 0;
    for (Token t = 0; t < row.vocab(); ++t)
      entropy -= row.at(t) > 0 ? row.at(t) * std::log(row.at(t)) : 0;
    CHECK(row.entropy() == Approx(entropy).epsilon(1e-6));
    found.insert(row.entropy());
  }
  CHECK(found.size() == 1);
}

TEST_CASE("At temperature 0 a row is a point, ties at the lowest id") {
  const Chain chain = greedy();
  const std::vector<Token> text{1};
  const Row row = chain.apply(chain.begin(view(text)), std::vector<float>{1, 3, 3, 0});
  CHECK(row.is_point());
  CHECK(row.argmax() == 1);
}

TEST_CASE("A row without a distribution is that row's error, whatever the links") {
  const std::vector<Token> text{1};
  const Chain none, point = greedy();
  for (const Chain* chain : {&none, &point}) {
    const auto at = chain->begin(view(text));
    CHECK_THROWS_AS(chain->apply(at, std::vector<float>{1, kNaN, 0, 0}), BadRow);
    CHECK_THROWS_AS(chain->apply(at, std::vector<float>{1, kInfinity, 0, 0}), BadRow);
    CHECK_THROWS_AS(chain->apply(at, std::vector<float>(4, -kInfinity)), BadRow);
  }
}

}  // namespace
}  // namespace redline::step
