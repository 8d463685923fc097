// SPDX-License-Identifier: Apache-2.0
// What one forward takes. Knows no request, no plugin, no draft: rows with tokens, positions, slots
// and what each sees, grouped in segments of one sequence each.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kv/page_table.hpp"
#include "redline/needs.hpp"
#include "redline/types.hpp"

namespace redline::model {

enum class Want : std::uint8_t { NOTHING, ARGMAX, SUMMARY, ROW };

enum class Standing : std::uint8_t {  // only learned heads ask for it
  COMMITTED,
  DRAFTED,
  BLOCK,  // drafted; sees the rows of its block behind it too: prefix is the block's end
};

struct Row {
  Token token;
  std::int32_t position;                      // root n-1, node n-1+depth
  std::int32_t slot;                          // where its K and V go
  std::int32_t prefix;                        // sees slots [0, prefix) ...
  std::int32_t tail_begin = 0, tail_end = 0;  // ... then Batch::tail[begin, end), its own slot last
  Want want = Want::NOTHING;
  Standing standing = Standing::COMMITTED;
};

struct Segment {
  const kv::PageTable* cache;  // of this model
  std::int32_t row_begin, row_end;
  const kv::PageTable* features = nullptr;  // of the target, for a learned head that reads its taps
};

struct Batch {
  std::vector<Row> rows;           // [T]
  std::vector<std::int32_t> tail;  // slots, in position order
  std::vector<Segment> segments;
  std::vector<Tap> taps;  // hidden states to return for every row
  void clear() { rows.clear(), tail.clear(), segments.clear(), taps.clear(); }
};

// What a forward gives back; views into the decoder's own buffers, valid until its next forward.
struct Summary {
  double log_sum_exp, entropy;
  Token argmax;
};
struct Output {
  std::int32_t vocab = 0;
  std::int32_t heads = 1;                      // rows of logits a row gets; of a decoder one
  std::vector<std::span<const float>> logits;  // [T * heads]: [V] for ROW, empty otherwise
  std::span<const Token> tokens;               // not empty: logits are of these alone, rising ids
  std::vector<Summary> summaries;              // [T]: for ARGMAX (argmax only) and SUMMARY
  std::vector<std::span<const float>> taps;    // [taps]: [T, D]
};

}  // namespace redline::model
