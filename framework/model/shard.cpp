// SPDX-License-Identifier: Apache-2.0
#include "model/shard.hpp"

#include <string>

#include "redline/error.hpp"

namespace redline::model {
namespace {

// Inputs that share an activation scale: a cut between them leaves the scales as they are.
constexpr std::int64_t kUnit = 32;

std::int64_t tiles(std::int64_t rows) {
  return (rows + kernels::kTileRows - 1) / kernels::kTileRows;
}

Part part(std::int64_t units, std::int64_t unit, int rank, int degree) {
  return {units * rank / degree * unit, units * (rank + 1) / degree * unit};
}

bool fits(const Architecture& of, int degree) {
  const Shape& shape = of.shape;
  return shape.heads % degree == 0 &&
         (shape.kv_heads % degree == 0 || degree % shape.kv_heads == 0) &&
         of.q_width() / degree % kUnit == 0 && shape.feed_forward / kUnit >= degree &&
         tiles(shape.vocab) >= degree;
}

void check(const Architecture& of, int degree) {
  if (degree >= 1 && fits(of, degree)) return;
  std::string known;
  for (int other = 1; other <= of.shape.heads; ++other)
    if (fits(of, other)) known += (known.empty() ? "" : ", ") + std::to_string(other);
  throw InputError("tensor parallel degree " + std::to_string(degree) + " does not fit " +
                   std::to_string(of.shape.heads) + " heads and " +
                   std::to_string(of.shape.kv_heads) + " kv heads of " +
                   std::to_string(of.shape.head_size) + " at a feed-forward width of " +
                   std::to_string(of.shape.feed_forward) + "; degrees that work: " + known);
}

}  // namespace

Part tile_part(std::int64_t outputs, int rank, int degree) {
  Part rows = part(tiles(outputs), kernels::kTileRows, rank, degree);
  if (rank == degree - 1) rows.end = outputs;
  return rows;
}

Shard shard_of(const Architecture& whole, int rank, int degree) {
  check(whole, degree);
  const Shape& shape = whole.shape;
  const std::int64_t kv_begin = std::int64_t{shape.kv_heads} * rank / degree;
  const std::int64_t kv_heads = degree < shape.kv_heads ? shape.kv_heads / degree : 1;
  return {.rank = rank,
          .degree = degree,
          .q = part(degree, whole.q_width() / degree, rank, degree),
          .kv = {kv_begin * shape.head_size, (kv_begin + kv_heads) * shape.head_size},
          .feed_forward = part(shape.feed_forward / kUnit, kUnit, rank, degree),
          .vocab = tile_part(shape.vocab, rank, degree)};
}

Architecture part_of(const Architecture& whole, const Shard& shard) {
  Architecture mine = whole;
  const auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  mine.shape.heads = narrow(shard.q.size() / whole.shape.head_size);
  mine.shape.kv_heads = narrow(shard.kv.size() / whole.shape.head_size);
  mine.shape.feed_forward = narrow(shard.feed_forward.size());
  mine.shape.vocab = narrow(shard.vocab.size());
  return mine;
}

}  // namespace redline::model
