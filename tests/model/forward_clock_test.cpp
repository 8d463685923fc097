// SPDX-License-Identifier: Apache-2.0
#include "model/forward_clock.hpp"

#include <catch2/catch.hpp>

#include "redline/error.hpp"

namespace redline::model {
namespace {

class Recorder final : public Forward {  // of the batches it is given
 public:
  std::int32_t vocab() const override { return 100; }
  std::int32_t context() const override { return 256; }
  std::int32_t max_rows() const override { return 8; }
  kv::KvShape kv_shape() const override { return {1, 1, 32}; }
  const Output& forward(const Batch& batch) override {
    batches.push_back(batch);
    return output_;
  }
  std::vector<Batch> batches;

 private:
  Output output_;
};

std::vector<std::int32_t> seen(const Batch& batch, const Row& row) {  // slots behind the prefix
  return {batch.tail.begin() + row.tail_begin, batch.tail.begin() + row.tail_end};
}

struct Fixture {
  Recorder forward;
  kv::PagePool pool{forward.kv_shape(), 4};
  ForwardClock clock{forward, pool};
};

TEST_CASE("A context is filled in forwards no wider than the model takes") {
  Fixture f;
  f.clock.fill(20);
  CHECK(f.clock.context() == 20);
  REQUIRE(f.forward.batches.size() == 3);
  CHECK(f.forward.batches.back().rows.size() == 4);
  CHECK(f.forward.batches.back().rows.back().position == 19);
}

TEST_CASE("A timed chain stands behind the context and leaves it as it was") {
  Fixture f;
  f.clock.fill(5);
  CHECK(f.clock.chain(3) >= 0);
  CHECK(f.clock.context() == 5);
  const Batch& batch = f.forward.batches.back();
  REQUIRE(batch.rows.size() == 3);
  for (std::int32_t k = 0; k < 3; ++k) {
    CHECK(batch.rows[k].slot == 5 + k);
    CHECK(batch.rows[k].prefix == 6 + k);
    CHECK(batch.rows[k].want == Want::ARGMAX);
  }
}

TEST_CASE("A node of a timed tree sees the context, the root and its own line") {
  Fixture f;
  f.clock.fill(5);
  f.clock.tree(6);
  const Batch& batch = f.forward.batches.back();
  REQUIRE(batch.rows.size() == 6);
  for (const Row& row : batch.rows) CHECK(row.prefix == 6);
  CHECK(seen(batch, batch.rows[0]).empty());
  CHECK(seen(batch, batch.rows[2]) == std::vector<std::int32_t>{7});
  CHECK(seen(batch, batch.rows[5]) == std::vector<std::int32_t>{7, 10});  // 5 below 2 below 0
  CHECK(batch.rows[0].position == 5);
  CHECK(batch.rows[5].position == 7);
}

TEST_CASE("A timed prompt stands behind nothing and wants its last row alone") {
  Fixture f;
  f.clock.fill(5);
  f.clock.prompt(8);
  const Batch& batch = f.forward.batches.back();
  CHECK(batch.rows.front().position == 0);
  CHECK(batch.rows.front().want == Want::NOTHING);
  CHECK(batch.rows.back().want == Want::ARGMAX);
  CHECK(f.clock.context() == 5);
}

TEST_CASE("More rows than there are pages for are refused") {
  Fixture f;
  f.clock.fill(60);
  CHECK_NOTHROW(f.clock.chain(4));
  CHECK_THROWS_AS(f.clock.chain(5), DeviceError);
}

}  // namespace
}  // namespace redline::model
