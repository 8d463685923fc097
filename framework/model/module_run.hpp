// SPDX-License-Identifier: Apache-2.0
// Runs the ops of a module's graph over the rows of one forward, in the order they were recorded.
#pragma once
#include <memory>
#include <vector>

#include "model/decoder.hpp"
#include "model/module_rows.hpp"
#include "model/module_values.hpp"
#include "model/module_weights.hpp"
#include "model/row_plan.hpp"

namespace redline::model {

class ModuleRun {
 public:
  struct Limits {
    std::int64_t rows, wanted, positions;
  };
  // taps: see Module. All are borrowed but the taps.
  ModuleRun(const ModulePlan& plan, const ModuleWeights& weights, std::vector<std::int32_t> taps,
            Decoder& target, device::Device& device, const Limits& limits);
  static std::int64_t bytes(const ModulePlan& plan, const Limits& limits, const kernels::Ops& ops,
                            int workers);

  void run(RowPlan& rows, const ModuleRows& sources);
  // After run(): the row of head `head` for the k-th row that wants one, [V].
  std::span<const float> logits(std::int64_t k, std::int32_t head) const;

 private:
  template <class F>  // f(row) for every row, of so many floats
  void for_each_row(std::int64_t width, F&& f);
  float* in(std::size_t op, int k) const { return values_.of(plan_.nodes[op].inputs[k]); }
  std::int64_t in_width(std::size_t op, int k) const {
    return plan_.widths[plan_.nodes[op].inputs[k]];
  }

  void run_op(std::size_t op);
  void copy(std::size_t op, const float* (ModuleRows::*source)(std::int64_t) const,
            std::int64_t offset);
  void choose(std::size_t op);
  void linear(std::size_t op);
  void norm(std::size_t op);
  void silu(std::size_t op);
  void combine(std::size_t op);
  void concat(std::size_t op);
  void attention(std::size_t op);
  void attend(std::size_t op);
  void feature(std::size_t op);
  void head(std::size_t op);
  void own_head(const OpWeights& weights, std::int64_t count, float* out);

  const ModulePlan& plan_;
  const ModuleWeights& weights_;
  std::vector<std::int32_t> taps_;
  Decoder& target_;
  device::Device& device_;
  Limits limits_;
  std::int64_t scratch_bytes_;  // of attention, a worker
  ModuleValues values_;
  std::unique_ptr<std::byte[]> quantized_, scratch_;
  std::unique_ptr<float[]> qkv_;             // [T, (H + 2 G) E]
  std::unique_ptr<float[]> wanted_;          // [W, widest input of a head]
  std::unique_ptr<float[]> mapped_;          // [W, most rows of a head with ids]
  std::unique_ptr<float[]> logits_;          // [heads, W, V]
  std::vector<float> ones_, cosine_, sine_;  // [widest silu]; [positions, E/2]
  RowPlan* rows_ = nullptr;                  // of this run
  const ModuleRows* sources_ = nullptr;
};

}  // namespace redline::model
