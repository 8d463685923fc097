// SPDX-License-Identifier: Apache-2.0
#include "step/row_maker.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

namespace redline::step {
namespace {

constexpr std::int32_t kVocab = 1000;
constexpr int kRows = 23;

struct Nothing {};
class Cool : public SamplerOf<Nothing> {
  Slot do_slot() const override { return Slot::TEMPERATURE; }
  void edit(const Nothing&, Logits& row) const override { row.scale(1.25F); }
};
class CoolAnywhere final : public Cool, public AnyThread {};

struct Call {
  std::thread::id thread;
  float first;  // logit: of which row
};
class Noting final : public SamplerOf<Nothing> {
 public:
  explicit Noting(std::vector<Call>& calls) : calls_(calls) {}

 private:
  Slot do_slot() const override { return Slot::BIAS; }
  void edit(const Nothing&, Logits& row) const override {
    calls_.push_back({std::this_thread::get_id(), row.at(0)});
    row.add(1, 0.5F);
  }
  std::vector<Call>& calls_;
};

template <class... Links>
Chain chain_of(std::unique_ptr<Links>... link) {
  std::vector<std::unique_ptr<Sampler>> links;
  (links.push_back(std::move(link)), ...);
  return Chain(std::move(links));
}

// Of row k the first logit is k / 8.
std::vector<std::vector<float>> some_logits() {
  std::mt19937 g(11);
  std::normal_distribution<float> normal(0, 3);
  std::vector<std::vector<float>> rows(kRows, std::vector<float>(kVocab));
  for (int k = 0; k < kRows; ++k) {
    for (float& x : rows[k]) x = normal(g);
    rows[k][0] = static_cast<float>(k) / 8;
  }
  return rows;
}

TEST_CASE("Rows made together are those made alone, bit for bit, whatever the links allow") {
  std::vector<Call> calls;
  const Chain free = chain_of(std::make_unique<CoolAnywhere>()), bare = chain_of();
  const Chain held = chain_of(std::make_unique<CoolAnywhere>(), std::make_unique<Noting>(calls));
  REQUIRE(free.runs_on_any_thread());
  REQUIRE_FALSE(held.runs_on_any_thread());
  const bool is_held = GENERATE(false, true);
  const auto logits = some_logits();
  const Chain* chains[] = {&free, &bare, is_held ? &held : &free};
  std::vector<Chain::Path> paths(3);
  for (int k = 0; k < 3; ++k) paths[k] = chains[k]->begin({1, {}, 0, 10, kVocab});
  std::vector<RowWish> wishes;
  for (int k = 0; k < kRows; ++k) wishes.push_back({*chains[k % 3], paths[k % 3], {logits[k]}});
  device::WorkerPool pool(3);
  RowMaker(&pool).make(wishes);
  for (int k = 0; k < kRows; ++k)
    CHECK(wishes[k].row->to_dense() == chains[k % 3]->apply(paths[k % 3], logits[k]).to_dense());
}

TEST_CASE("A short row gives nothing to tokens that have no logit") {
  const Chain chain = chain_of(std::make_unique<CoolAnywhere>());
  const auto path = chain.begin({1, {}, 0, 10, 6});
  const std::vector<float> logits{1, 2};
  const std::vector<Token> tokens{1, 4};
  std::vector<RowWish> wishes(5, RowWish{chain, path, {logits, tokens, 6}});
  device::WorkerPool pool(2);
  RowMaker(&pool).make(wishes);
  for (const RowWish& wish : wishes) {
    CHECK(wish.row->at(0) == 0);
    CHECK(wish.row->at(4) / wish.row->at(1) == Approx(std::exp(1.25)));
  }
}

TEST_CASE("Links that say nothing of threads run on the caller's, row after row") {
  std::vector<Call> calls;
  const Chain chain = chain_of(std::make_unique<Noting>(calls), std::make_unique<Cool>());
  const auto path = chain.begin({1, {}, 0, 10, kVocab});
  const auto logits = some_logits();
  std::vector<RowWish> wishes;
  for (const auto& row : logits) wishes.push_back({chain, path, {row}});
  device::WorkerPool pool(3);
  RowMaker(&pool).make(wishes);
  REQUIRE(calls.size() == kRows);
  for (int k = 0; k < kRows; ++k) {
    CHECK(calls[k].thread == std::this_thread::get_id());
    CHECK(calls[k].first == static_cast<float>(k) / 8);
  }
}

TEST_CASE("A row that cannot be made is the failure of its own wish") {
  std::vector<Call> calls;
  const Chain free = chain_of(std::make_unique<CoolAnywhere>());
  const Chain held = chain_of(std::make_unique<Noting>(calls));
  const Chain& chain = GENERATE_REF(std::cref(free), std::cref(held)).get();
  const auto path = chain.begin({1, {}, 0, 10, kVocab});
  auto logits = some_logits();
  logits[7][500] = std::numeric_limits<float>::quiet_NaN();
  std::vector<RowWish> wishes;
  for (const auto& row : logits) wishes.push_back({chain, path, {row}});
  device::WorkerPool pool(2);
  RowMaker(&pool).make(wishes);
  for (int k = 0; k < kRows; ++k) {
    CHECK(wishes[k].row.has_value() == (k != 7));
    CHECK((wishes[k].failure != nullptr) == (k == 7));
  }
  CHECK_THROWS_AS(std::rethrow_exception(wishes[7].failure), BadRow);
}

}  // namespace
}  // namespace redline::step
