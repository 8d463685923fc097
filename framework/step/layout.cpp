// SPDX-License-Identifier: Apache-2.0
#include "step/layout.hpp"

namespace redline::step {

void add_committed(model::Batch& batch, std::span<const Token> tokens, std::int32_t from,
                   std::int32_t to) {
  for (std::int32_t at = from; at < to; ++at)
    batch.rows.push_back({.token = tokens[at], .position = at, .slot = at, .prefix = at + 1});
}

void add_node(model::Batch& batch, Token token, std::int32_t root,
              std::span<const std::int32_t> line) {
  model::Row row{.token = token,
                 .position = root + static_cast<std::int32_t>(line.size()),
                 .slot = line.empty() ? root : line.back(),
                 .prefix = root + 1,
                 .want = model::Want::ROW,
                 .standing = line.empty() ? model::Standing::COMMITTED : model::Standing::DRAFTED};
  std::size_t natural = 0;
  while (natural < line.size() && line[natural] == row.prefix) ++natural, ++row.prefix;
  row.tail_begin = static_cast<std::int32_t>(batch.tail.size());
  batch.tail.insert(batch.tail.end(), line.begin() + static_cast<std::ptrdiff_t>(natural),
                    line.end());
  row.tail_end = static_cast<std::int32_t>(batch.tail.size());
  batch.rows.push_back(row);
}

void add_to_block(model::Batch& batch, Token token, std::int32_t root, std::int32_t index,
                  std::int32_t size) {
  batch.rows.push_back({.token = token,
                        .position = root + index,
                        .slot = root + index,
                        .prefix = root + size,
                        .want = model::Want::ROW,
                        .standing = model::Standing::BLOCK});
}

void lay_out_chunk(model::Batch& batch, const kv::PageTable& cache, std::span<const Token> tokens,
                   std::int32_t count) {
  const auto begin = static_cast<std::int32_t>(batch.rows.size());
  add_committed(batch, tokens, cache.tokens(), cache.tokens() + count);
  batch.segments.push_back({&cache, begin, begin + count});
}

std::int32_t lay_out(model::Batch& batch, const kv::PageTable& cache, std::span<const Token> tokens,
                     const Draft& draft) {
  const auto begin = static_cast<std::int32_t>(batch.rows.size());
  const auto root = static_cast<std::int32_t>(tokens.size()) - 1;
  add_committed(batch, tokens, cache.tokens(), root);
  const auto root_row = static_cast<std::int32_t>(batch.rows.size());
  List<List<std::int32_t>> lines(1);  // slots from below the root to the node
  add_node(batch, tokens.back(), root, {});
  for (Node u = 1; u <= draft.size(); ++u) {
    lines.push_back(lines[draft.parent(u)]);
    lines.back().push_back(root + u);
    add_node(batch, draft.token(u), root, lines.back());
  }
  batch.segments.push_back({&cache, begin, static_cast<std::int32_t>(batch.rows.size())});
  return root_row;
}

}  // namespace redline::step
