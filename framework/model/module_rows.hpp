// SPDX-License-Identifier: Apache-2.0
// What the rows of a module's forward read of pages: the target's tapped states of committed
// tokens, and of nodes the feature that their parent has left.
#pragma once
#include <vector>

#include "model/module_plan.hpp"

namespace redline::model {

class ModuleRows {
 public:
  ModuleRows(const Feeding& feeding, std::int32_t rows);
  void lay_out(const Batch& batch);  // checked as rows before; Error: as Module::forward

  bool is_drafted(std::int64_t row) const { return rows_[row].is_drafted; }
  const float* tapped(std::int64_t row) const { return rows_[row].tapped; }  // null: zeros
  const float* parent(std::int64_t row) const { return rows_[row].parent; }  // null: zeros

 private:
  struct Source {
    bool is_drafted;
    const float *tapped, *parent;
  };
  Source source_of(const Batch& batch, const Segment& segment, std::int32_t index) const;
  const float* tapped_of(const Segment& segment, const Row& row, std::int32_t index) const;
  const float* parent_of(const Batch& batch, const Segment& segment, std::int32_t index) const;

  Feeding feeding_;
  std::vector<Source> rows_;  // [T]
};

}  // namespace redline::model
