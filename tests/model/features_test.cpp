// SPDX-License-Identifier: Apache-2.0
// Tapped hidden states lie beside the KV of the row they are of.
#include <catch2/catch.hpp>

#include "replay.hpp"
#include "tiny.hpp"

using namespace redline;
using namespace redline::model;

namespace {

std::span<const float> features_of(const kv::PageTable& table, std::int32_t slot) {
  const std::byte* const page = table.pages()[slot / kv::kPageTokens];
  return {reinterpret_cast<const float*>(page + table.shape().feature_offset(slot)),
          static_cast<std::size_t>(table.shape().feature_floats)};
}

}  // namespace

TEST_CASE("Every row leaves the states of the declared taps in its slot, wanted or not") {
  using Point = Tap::Point;
  const TinyFile file(TinySpec{.layers = 3});
  const std::vector<Tap> taps = {
      {Point::FINAL_NORM}, {Point::LAYER_INPUT, 1}, {Point::LAYER_OUTPUT, -1}};
  TinyDecoder decoder(file, kernels::best(), 2, taps);
  const std::size_t hidden = decoder->shape().hidden;
  REQUIRE(decoder->kv_shape().feature_floats == static_cast<std::int32_t>(3 * hidden));
  kv::PagePool pool(decoder->kv_shape(), 8, true);
  kv::Cache cache(pool);
  const auto lease = kv::Lease::reserve(cache, 40);
  Batch batch{.rows = chain_rows(some_ids(40, decoder->vocab()), 0),
              .tail = {},
              .segments = {{&cache, 0, 40}},
              .taps = taps};
  for (std::size_t row = 0; row < 40; row += 2) batch.rows[row].want = Want::NOTHING;
  const Output& output = decoder->forward(batch);
  for (std::int32_t slot = 0; slot < 40; ++slot)
    for (std::size_t tap = 0; tap < taps.size(); ++tap) {
      CAPTURE(slot, tap);
      CHECK(std::ranges::equal(features_of(cache, slot).subspan(tap * hidden, hidden),
                               output.taps[tap].subspan(slot * hidden, hidden)));
    }
  CHECK(pool.guards_intact());
}

TEST_CASE("A model that nobody taps keeps nothing beside its KV") {
  const TinyFile file(TinySpec{});
  TinyDecoder decoder(file);
  CHECK(decoder->kv_shape() == decoder->shape().kv());
}

TEST_CASE("A tap at a layer that the model lacks fails the load") {
  const TinyFile file(TinySpec{});
  CHECK_THROWS_WITH(TinyDecoder(file, kernels::best(), 1, {{Tap::Point::LAYER_INPUT, 2}}),
                    Catch::Contains("a tap at layer 2, the model has 2"));
}
