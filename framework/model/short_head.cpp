// SPDX-License-Identifier: Apache-2.0
#include "model/short_head.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "redline/error.hpp"
#include "redline/kernels/requantize.hpp"

namespace redline::model {
namespace {

constexpr std::size_t kAlignment = 64;  // of tiles, as in a mapped file

std::byte* aligned(std::byte* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return at + (kAlignment - address % kAlignment) % kAlignment;
}

}  // namespace

ShortHead::ShortHead(const kernels::PackedMatrix& whole, std::span<const Token> tokens,
                     const Shard& shard)
    : shape_(whole) {
  const Part part = tile_part(std::ssize(tokens), shard.rank, shard.degree);
  shape_.rows = part.size();
  tiles_.resize(kernels::packed_bytes(whole.type, part.size(), whole.cols) + kAlignment);
  kernels::gather_rows(whole, tokens.subspan(part.begin, part.size()), aligned(tiles_.data()));
}

kernels::PackedMatrix ShortHead::matrix() const {
  kernels::PackedMatrix matrix = shape_;
  matrix.data = aligned(const_cast<std::byte*>(tiles_.data()));
  return matrix;
}

void check_head_tokens(std::span<const Token> tokens, std::int32_t vocab, int degree) {
  if (tokens.empty()) return;
  const bool rises =
      std::ranges::adjacent_find(tokens, std::ranges::greater_equal()) == tokens.end();
  if (!rises || tokens.front() < 0 || tokens.back() >= vocab)
    throw InputError("head tokens must rise and lie in [0, " + std::to_string(vocab) + "); got " +
                     std::to_string(tokens.size()) + " from " + std::to_string(tokens.front()) +
                     " to " + std::to_string(tokens.back()));
  const std::int64_t least = (degree - 1) * kernels::kTileRows + 1;
  if (std::ssize(tokens) < least)
    throw InputError("a head of " + std::to_string(tokens.size()) + " tokens cannot be shared by " +
                     std::to_string(degree) + " ranks, which take 16 each; keep at least " +
                     std::to_string(least) + " tokens or use fewer ranks");
}

}  // namespace redline::model
