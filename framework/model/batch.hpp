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

struct Row {
  Token token;
  std::int32_t position;                      // root n-1, node n-1+depth
  std::int32_t slot;                          // where its K and V go
  std::int32_t prefix;                        // sees slots [0, prefix) ...
  std::int32_t tail_begin = 0, tail_end = 0;  // ... then Batch::tail[begin, end), its own slot last
  Want want = Want::NOTHING;
};

struct Segment {
  const kv::PageTable* cache;  // of this model
  std::int32_t row_begin, row_end;
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
  std::vector<std::span<const float>> logits;  // [T]: [V] for ROW, empty otherwise
  std::vector<Summary> summaries;              // [T]: for ARGMAX (argmax only) and SUMMARY
  std::vector<std::span<const float>> taps;    // [taps]: [T, D]
};

}  // namespace redline::model
