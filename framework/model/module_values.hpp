// SPDX-License-Identifier: Apache-2.0
// Memory for the values of a module's graph: a value's buffer goes to another value after the last
// op that takes it. Rows that never come are never touched.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "model/module_plan.hpp"

namespace redline::model {

class ModuleValues {
 public:
  ModuleValues(const ModulePlan& plan, std::int64_t rows);
  static std::int64_t bytes(const ModulePlan& plan, std::int64_t rows);
  float* of(std::size_t op) const { return buffers_[places_[op]].get(); }  // [rows, width]

 private:
  std::vector<std::unique_ptr<float[]>> buffers_;
  std::vector<std::size_t> places_;  // [ops] the buffer of each value
};

}  // namespace redline::model
