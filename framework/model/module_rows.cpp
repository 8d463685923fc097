// SPDX-License-Identifier: Apache-2.0
#include "model/module_rows.hpp"

#include <algorithm>

#include "redline/error.hpp"

namespace redline::model {
namespace {

[[noreturn]] void refuse(std::int32_t row, const std::string& why) {
  throw Error("module: row " + std::to_string(row) + ": " + why);
}

// The slot of the token before the row's own, or -1.
std::int32_t parent_slot(const Batch& batch, const Row& row) {
  const std::int32_t tail = row.tail_end - row.tail_begin;
  if (tail > 1) return batch.tail[row.tail_end - 2];
  return row.prefix - (tail == 1 ? 1 : 2);
}

const float* features_at(const kv::PageTable& table, std::int32_t slot) {
  const std::byte* const page = table.pages()[slot / kv::kPageTokens];
  return reinterpret_cast<const float*>(page + table.shape().feature_offset(slot));
}

}  // namespace

ModuleRows::ModuleRows(const Feeding& feeding, std::int32_t rows) : feeding_(feeding) {
  rows_.reserve(rows);
}

void ModuleRows::lay_out(const Batch& batch) {
  rows_.clear();
  for (const Segment& segment : batch.segments)
    for (std::int32_t row = segment.row_begin; row < segment.row_end; ++row)
      rows_.push_back(source_of(batch, segment, row));
}

ModuleRows::Source ModuleRows::source_of(const Batch& batch, const Segment& segment,
                                         std::int32_t index) const {
  const Row& row = batch.rows[index];
  if (row.want != Want::NOTHING && row.want != Want::ROW)
    refuse(index, "a module gives whole rows, no summaries");
  if (row.standing == (feeding_.is_block ? Standing::DRAFTED : Standing::BLOCK))
    refuse(index, feeding_.is_block ? "drafted outside of a block" : "of a block, it has none");
  const bool is_drafted = row.standing != Standing::COMMITTED;
  if (is_drafted && feeding_.is_root_only)
    refuse(index, "below the root; what it needs is known of committed tokens only");
  return {is_drafted, is_drafted ? nullptr : tapped_of(segment, row, index),
          is_drafted ? parent_of(batch, segment, index) : nullptr};
}

const float* ModuleRows::tapped_of(const Segment& segment, const Row& row,
                                   std::int32_t index) const {
  if (!feeding_.takes_features) return nullptr;
  const std::int32_t slot = row.position - (feeding_.is_block ? 0 : 1);
  if (slot < 0) return nullptr;
  if (!segment.features || slot >= segment.features->tokens())
    refuse(index, "needs the target's states of position " + std::to_string(slot) +
                      ", the target has computed " +
                      std::to_string(segment.features ? segment.features->tokens() : 0));
  return features_at(*segment.features, slot);
}

const float* ModuleRows::parent_of(const Batch& batch, const Segment& segment,
                                   std::int32_t index) const {
  if (!feeding_.is_level_by_level) return nullptr;
  const std::int32_t slot = parent_slot(batch, batch.rows[index]);
  if (slot < 0) return nullptr;
  const auto rows =
      std::span(batch.rows).subspan(segment.row_begin, segment.row_end - segment.row_begin);
  if (std::ranges::any_of(rows, [&](const Row& other) { return other.slot == slot; }))
    refuse(index, "its parent is in the same forward");
  return features_at(*segment.cache, slot);
}

}  // namespace redline::model
