// SPDX-License-Identifier: Apache-2.0
#include "model/row_plan.hpp"

#include <algorithm>
#include <string>

#include "redline/error.hpp"

namespace redline::model {
namespace {

constexpr std::int32_t kBlockRows = 16;  // shares keys in cache, and still splits a prefill well

[[noreturn]] void refuse(std::int32_t row, const std::string& why) {
  throw Error("forward: row " + std::to_string(row) + ": " + why);
}

std::string range(std::int64_t begin, std::int64_t end) {
  return std::string("[").append(std::to_string(begin)) + ", " + std::to_string(end) + ")";
}

void check_within(std::int32_t row, const char* what, std::int64_t value, std::int64_t begin,
                  std::int64_t end) {
  if (value < begin || value >= end)
    refuse(row,
           std::string(what) + " " + std::to_string(value) + " is not in " + range(begin, end));
}

// A row sees as many slots as its position says, all of them in pages, its own last; a row of a
// block sees all of the block.
void check_visibility(const Batch& batch, std::int32_t index, std::int64_t slots) {
  const Row& row = batch.rows[index];
  const auto tail_size = static_cast<std::int32_t>(batch.tail.size());
  if (row.prefix < 0 || row.prefix > slots)
    refuse(index,
           "prefix " + std::to_string(row.prefix) + " of " + std::to_string(slots) + " slots");
  if (row.tail_begin < 0 || row.tail_begin > row.tail_end || row.tail_end > tail_size)
    refuse(index, "tail " + range(row.tail_begin, row.tail_end) + " of " +
                      std::to_string(tail_size) + " entries");
  if (row.standing == Standing::BLOCK) {
    if (row.tail_begin != row.tail_end || row.prefix <= row.slot)
      refuse(index, "of a block in slots up to " + std::to_string(row.prefix) +
                        " sees a tail or not its own slot " + std::to_string(row.slot));
    return;
  }
  const std::int64_t seen = std::int64_t{row.prefix} + row.tail_end - row.tail_begin;
  if (seen != std::int64_t{row.position} + 1)
    refuse(index, "at position " + std::to_string(row.position) + " sees " + std::to_string(seen) +
                      " slots, expected " + std::to_string(row.position + 1));
  for (std::int32_t i = row.tail_begin; i < row.tail_end; ++i)
    check_within(index, "tail slot", batch.tail[i], 0, slots);
  const std::int32_t last =
      row.tail_begin < row.tail_end ? batch.tail[row.tail_end - 1] : row.prefix - 1;
  if (last != row.slot)
    refuse(index, "the last slot it sees is " + std::to_string(last) + ", its own is " +
                      std::to_string(row.slot));
}

}  // namespace

RowPlan::RowPlan(const RowLimits& limits) : limits_(limits) {
  for (auto* list : {&tokens_, &positions_, &slots_}) list->reserve(limits.rows);
  wanted_.reserve(limits.wanted);
  kv_.reserve(limits.rows);  // also: rows point into it
  kv_of_rows_.reserve(limits.rows);
  sees_.reserve(limits.rows);
  blocks_.reserve(limits.rows);
}

void RowPlan::lay_out(const Batch& batch) {
  if (batch.rows.size() > static_cast<std::size_t>(limits_.rows))
    throw Error("forward: " + std::to_string(batch.rows.size()) + " rows, the widest is " +
                std::to_string(limits_.rows));
  for (auto* list : {&tokens_, &positions_, &slots_, &wanted_}) list->clear();
  kv_.clear(), kv_of_rows_.clear(), sees_.clear(), blocks_.clear();
  for (const Segment& segment : batch.segments) add_segment(batch, segment);
  if (tokens_.size() != batch.rows.size())
    throw Error("forward: segments cover " + std::to_string(tokens_.size()) + " of " +
                std::to_string(batch.rows.size()) + " rows");
}

void RowPlan::add_segment(const Batch& batch, const Segment& segment) {
  const auto next = static_cast<std::int32_t>(tokens_.size());
  if (segment.row_begin != next || segment.row_end <= next ||
      segment.row_end > static_cast<std::int32_t>(batch.rows.size()))
    throw Error("forward: segment of rows " + range(segment.row_begin, segment.row_end) +
                ", the next row is " + std::to_string(next) + " of " +
                std::to_string(batch.rows.size()));
  const kv::KvShape& shape = segment.cache->shape();
  if (shape != limits_.kv) throw Error("forward: a cache of another model's shape");
  const auto index = static_cast<std::int32_t>(kv_.size());
  kv_.push_back({.pages = segment.cache->pages().data(),
                 .layer_offset = 0,
                 .kv_heads = shape.kv_heads,
                 .head_size = shape.head_size,
                 .type = shape.type});
  for (std::int32_t row = segment.row_begin; row < segment.row_end; ++row)
    add_row(batch, segment, row);
  for (std::int32_t row = segment.row_begin; row < segment.row_end; row += kBlockRows)
    blocks_.push_back({index, row, std::min(row + kBlockRows, segment.row_end)});
}

void RowPlan::add_row(const Batch& batch, const Segment& segment, std::int32_t index) {
  const Row& row = batch.rows[index];
  const auto slots = static_cast<std::int64_t>(segment.cache->pages().size()) * kv::kPageTokens;
  check_within(index, "token", row.token, 0, limits_.vocab);
  check_within(index, "position", row.position, 0, limits_.positions);
  check_within(index, "slot", row.slot, segment.cache->tokens(), slots);  // committed ones stay
  check_visibility(batch, index, slots);
  tokens_.push_back(row.token);
  positions_.push_back(row.position);
  slots_.push_back(row.slot);
  kv_of_rows_.push_back(&kv_.back());
  sees_.push_back({row.prefix, batch.tail.data() + row.tail_begin, row.tail_end - row.tail_begin});
  if (row.want == Want::NOTHING) return;
  if (wanted_.size() == static_cast<std::size_t>(limits_.wanted))
    throw Error("forward: more than " + std::to_string(limits_.wanted) + " rows want logits");
  wanted_.push_back(index);
}

void RowPlan::enter_layer(std::int32_t layer) {
  for (kernels::PagedKv& kv : kv_) kv.layer_offset = layer * limits_.kv.layer_bytes();
}

}  // namespace redline::model
