// SPDX-License-Identifier: Apache-2.0
// Rank 0 decides, the others follow.
#include "model/ranks.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "model/follower.hpp"
#include "parallel/relay.hpp"
#include "redline/error.hpp"
#include "sharded.hpp"

using namespace redline;
using namespace redline::model;
using Catch::Matchers::Contains;
using files::TensorType;
using parallel::Communicator;
using parallel::Patience;

namespace {

TinySpec spec_of(std::int32_t heads, std::int32_t kv_heads, std::uint64_t seed = 1) {
  TinySpec spec{.extra_vocab = 20, .type = TensorType::Q8_0, .seed = seed};
  spec.heads = heads, spec.kv_heads = kv_heads, spec.hidden = heads * 32, spec.feed_forward = 288;
  return spec;
}

std::vector<Trail> wander_on_shards(const TinyFile& file, int degree) {
  std::vector<Trail> trails(degree);
  on_ranks(file, degree, [&](Decoder& decoder, kv::PagePool& pool, int rank) {
    trails[rank] = wander(decoder, pool);
  });
  return trails;
}

// Calls a function before the n-th sum, and keeps it for the groups that it makes.
class Tripwire final : public tests::Relay {
 public:
  Tripwire(std::unique_ptr<Communicator> to, int sums, std::function<void()> trip)
      : Relay(std::move(to)), left_(sums), trip_(std::move(trip)) {}
  void all_reduce(std::span<float> values) override {
    if (--left_ == 0) trip_();
    to_->all_reduce(values);
  }
  std::unique_ptr<Communicator> first(int ranks) override {
    return std::make_unique<Tripwire>(to_->first(ranks), left_, trip_);
  }

 private:
  int left_;
  std::function<void()> trip_;
};

class Refuser final : public tests::Relay {
 public:
  using Relay::Relay;
  std::unique_ptr<Communicator> first(int) override { throw Error("no room"); }
};

// What the three ranks threw when `trip` came upon rank 1 within a forward.
std::vector<std::string> trip_a_follower(const std::function<void()>& trip) {
  const TinyFile file(spec_of(6, 3));
  return tests::run_ranks(
      3,
      [&](Communicator& world) {
        device::Device device(1, kernels::best());
        if (world.rank() == 1) {
          Tripwire tripwire(world.first(3), 7, trip);
          return Follower(tripwire, device).serve();
        }
        if (world.rank() > 0) return Follower(world, device).serve();
        Lead lead(world);
        const auto model = lead.open(file.open(), 3, device, tiny_options(file), kShardPages);
        wander(model->forward(), model->pool());
      },
      tests::kImpatient);
}

}  // namespace

TEST_CASE("A led model gives the bits of its shards, slot copies and trees included") {
  const int degree = GENERATE(1, 2, 4, 8);
  const TinyFile file(spec_of(8, 4));
  device::Device device(1, kernels::best());
  const auto ranks = Ranks::of_threads(8, 1, kernels::best(), tests::kPatient);
  const auto model =
      ranks->lead().open(file.open(), degree, device, tiny_options(file), kShardPages);
  CHECK(model->degree() == degree);
  CHECK(model->forward().kv_shape().kv_heads == std::max(1, 4 / degree));
  for (int turn = 0; turn < 2; ++turn)  // pages are used again
    CHECK(wander(model->forward(), model->pool()) == wander_on_shards(file, degree)[0]);
}

TEST_CASE("Models of different degrees share the ranks, in any order of forwards") {
  const TinyFile target(spec_of(8, 4)), draft(spec_of(6, 3, 2));
  device::Device device(1, kernels::best());
  const auto ranks = Ranks::of_threads(4, 1, kernels::best(), tests::kPatient);
  Lead& lead = ranks->lead();
  const auto large = lead.open(target.open(), 4, device, tiny_options(target), kShardPages);
  auto small = lead.open(draft.open(), 3, device, tiny_options(draft), kShardPages);
  kv::Cache of_large(large->pool()), of_small(small->pool());
  Trail found_large, found_small, expected_large, expected_small;
  for (std::uint32_t turn = 0; turn < 4; ++turn) {
    append_tree(small->forward(), of_small, some_ids(3, 256, turn), 2, found_small);
    append_tree(large->forward(), of_large, some_ids(3, 256, turn), 1, found_large);
  }
  const auto replay = [](const TinyFile& file, int degree, std::int32_t decoys, Trail& trail) {
    on_ranks(file, degree, [&](Decoder& decoder, kv::PagePool& pool, int rank) {
      kv::Cache cache(pool);
      Trail here;
      for (std::uint32_t turn = 0; turn < 4; ++turn)
        append_tree(decoder, cache, some_ids(3, 256, turn), decoys, here);
      if (rank == 0) trail = here;
    });
  };
  replay(target, 4, 1, expected_large);
  replay(draft, 3, 2, expected_small);
  CHECK(found_large == expected_large);
  CHECK(found_small == expected_small);
  of_small.clear();
  small.reset();  // closed: the large one goes on
  append_chain(large->forward(), of_large, some_ids(3, 256), found_large);
}

TEST_CASE("A follower that throws in a forward ends all ranks with its words") {
  const auto thrown = trip_a_follower([] { throw Error("a broken shard"); });
  CHECK(thrown[1] == "a broken shard");
  for (const int rank : {0, 2}) CHECK(thrown[rank] == "rank 1 failed: a broken shard");
}

TEST_CASE("A follower that stalls in a forward ends all ranks within the limit") {
  const auto thrown = trip_a_follower([] { std::this_thread::sleep_for(4 * tests::kImpatient); });
  for (const std::string& text : thrown) {
    CHECK_THAT(text, Contains("rank 1 did not reach"));
    CHECK_THAT(text, Contains("0.2 s"));
  }
}

TEST_CASE("A model that a follower cannot load is rank 0's error") {
  const TinyFile file(spec_of(8, 4));
  const auto thrown = tests::run_ranks(2, [&](Communicator& world) {
    device::Device device(1, kernels::best());
    if (world.rank() == 1) {
      Refuser refuser(world.first(2));
      return Follower(refuser, device).serve();
    }
    Lead(world).open(file.open(), 2, device, tiny_options(file), kShardPages);
  });
  CHECK(thrown[0] == "rank 1 failed: no room");
}

TEST_CASE("A degree beyond the ranks or the model's heads is refused, and the ranks go on") {
  const TinyFile file(spec_of(8, 4));
  device::Device device(1, kernels::best());
  const auto ranks = Ranks::of_threads(3, 1, kernels::best(), tests::kPatient);
  for (const int degree : {0, 3, 4})
    CHECK_THROWS_AS(ranks->lead().open(file.open(), degree, device, tiny_options(file), 1),
                    InputError);
  const auto model = ranks->lead().open(file.open(), 2, device, tiny_options(file), kShardPages);
  wander(model->forward(), model->pool());
}
