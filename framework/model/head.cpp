// SPDX-License-Identifier: Apache-2.0
// The head, split by its outputs: each rank computes its own of every row.
#include <algorithm>
#include <cstring>

#include "model/pass.hpp"
#include "model/shard.hpp"

namespace redline::model {
namespace {

// parts: rank by rank [rows, outputs of the rank] -> out [rows, outputs].
void interleave(const Pass& pass, std::int64_t outputs, std::int64_t rows, const float* parts,
                float* out) {
  for_rows(pass.device, rows, outputs, [&](kernels::Range range, int) {
    const float* from = parts;
    for (int rank = 0; rank < pass.ranks.size(); ++rank) {
      const Part part = tile_part(outputs, rank, pass.ranks.size());
      for (std::int64_t row = range.begin; row < range.end; ++row)
        std::memcpy(out + row * outputs + part.begin, from + row * part.size(),
                    static_cast<std::size_t>(part.size()) * sizeof(float));
      from += rows * part.size();
    }
  });
}

}  // namespace

void logits(const Pass& pass, const Head& head, const float* normed, std::int64_t rows,
            float* out) {
  const Buffers& b = pass.buffers;
  const bool is_shard = pass.ranks.size() > 1;
  const Product product[] = {{head.rows, nullptr, is_shard ? b.part : out, head.rows.rows}};
  multiply(pass.device, product, normed, rows, b.quantized);
  if (!is_shard) return;
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < pass.ranks.size(); ++rank)
    counts.push_back(rows * tile_part(head.outputs, rank, pass.ranks.size()).size());
  const auto mine = static_cast<std::size_t>(rows * head.rows.rows);
  const auto all = static_cast<std::size_t>(rows * head.outputs);
  const bool is_root = pass.ranks.rank() == 0;
  pass.ranks.gather({b.part, mine}, counts, {b.parts, is_root ? all : 0}, 0);
  if (is_root) interleave(pass, head.outputs, rows, b.parts, out);
}

}  // namespace redline::model
