// SPDX-License-Identifier: Apache-2.0
// From a draft tree to the rows of a forward: tokens, positions, slots, and what each row sees.
// A committed token's slot is its position; a draft's nodes take the slots behind the root's in the
// order they are fed.
#pragma once
#include <span>

#include "model/batch.hpp"
#include "redline/draft.hpp"

namespace redline::step {

// Rows for tokens [from, to), wanting nothing.
void add_committed(model::Batch& batch, std::span<const Token> tokens, std::int32_t from,
                   std::int32_t to);
// A row that wants its logits: the root at position `root` when `line` is empty, else the node
// whose path has the slots `line`, its own last.
void add_node(model::Batch& batch, Token token, std::int32_t root,
              std::span<const std::int32_t> line);

// Row `index` of a block of `size` that begins with the root; it wants its logits.
void add_to_block(model::Batch& batch, Token token, std::int32_t root, std::int32_t index,
                  std::int32_t size);

// Appends one segment of committed tokens alone: the next `count` that the cache lacks.
void lay_out_chunk(model::Batch& batch, const kv::PageTable& cache, std::span<const Token> tokens,
                   std::int32_t count);
// Appends one segment: the committed tokens the cache lacks, the root, and the nodes in draft
// order. Returns the index of the root's row; node u is u rows further, and u slots.
std::int32_t lay_out(model::Batch& batch, const kv::PageTable& cache, std::span<const Token> tokens,
                     const Draft& draft);

}  // namespace redline::step
