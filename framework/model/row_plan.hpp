// SPDX-License-Identifier: Apache-2.0
// A batch, checked, in the arrays that the kernels take. Its memory is kept from forward to
// forward.
#pragma once
#include <cstdint>
#include <vector>

#include "model/batch.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::model {

struct RowLimits {
  std::int32_t rows, wanted, positions, vocab;
  kv::KvShape kv;
};

struct RowBlock {  // a task of attention: neighbouring rows of one sequence
  std::int32_t segment, row_begin, row_end;
};

class RowPlan {
 public:
  explicit RowPlan(const RowLimits& limits);
  void lay_out(const Batch& batch);  // Error: what in the batch breaks which limit
  void enter_layer(std::int32_t layer);

  std::int64_t rows() const { return static_cast<std::int64_t>(tokens_.size()); }
  const std::int32_t* tokens() const { return tokens_.data(); }
  const std::int32_t* positions() const { return positions_.data(); }
  const std::int32_t* slots() const { return slots_.data(); }
  const kernels::PagedKv* const* kv_of_rows() const { return kv_of_rows_.data(); }
  const kernels::PagedKv& kv(std::int32_t segment) const { return kv_[segment]; }
  const kernels::Visibility* sees() const { return sees_.data(); }
  float* features(std::int64_t row) const {  // [feature_floats] of its slot
    std::byte* const page = kv_of_rows_[row]->pages[slots_[row] / kv::kPageTokens];
    return reinterpret_cast<float*>(page + limits_.kv.feature_offset(slots_[row]));
  }
  const std::vector<RowBlock>& blocks() const { return blocks_; }
  const std::vector<std::int32_t>& wanted() const { return wanted_; }  // rows, rising

 private:
  void add_segment(const Batch& batch, const Segment& segment);
  void add_row(const Batch& batch, const Segment& segment, std::int32_t index);

  RowLimits limits_;
  std::vector<std::int32_t> tokens_, positions_, slots_, wanted_;  // [T]; wanted [W]
  std::vector<kernels::PagedKv> kv_;                               // [segments]
  std::vector<const kernels::PagedKv*> kv_of_rows_;                // [T]
  std::vector<kernels::Visibility> sees_;                          // [T]
  std::vector<RowBlock> blocks_;
};

}  // namespace redline::model
