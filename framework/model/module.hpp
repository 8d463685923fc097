// SPDX-License-Identifier: Apache-2.0
// A learned head: the graph of a plugin over the rows of a batch, with pages of its own for the K
// and V of its attention and for the feature that a row hands to its children. Runs whole on every
// rank, but for its own heads, whose rows are wanted on rank 0 alone; embedding and head of the
// target are the target's affair.
#pragma once
#include <memory>
#include <vector>

#include "model/decoder.hpp"
#include "model/module_plan.hpp"

namespace redline::model {

class Module final : public Forward {
 public:
  static MemoryNeed memory_need(const files::Gguf& file, const ModulePlan& plan,
                                const LoadOptions& options);
  // taps: where in the features of the target's pages each tap of the plan lies, as an index into
  // the target's LoadOptions::taps. The target outlives the module.
  Module(const files::Gguf& file, const ModulePlan& plan, const std::vector<std::int32_t>& taps,
         Decoder& target, device::Device& device, const LoadOptions& options);
  ~Module() override;
  Module(const Module&) = delete;  // holds the weights' mapping

  std::int32_t vocab() const override;
  std::int32_t context() const override;
  std::int32_t max_rows() const override;
  kv::KvShape kv_shape() const override;
  Feeding feeding() const override;
  // Rows may want NOTHING or ROW. Error: a row whose standing the graph cannot serve, a committed
  // one whose token the target has not computed, a node in one forward with its parent when it
  // takes the parent's feature.
  const Output& forward(const Batch& batch) override;  // rows: on rank 0

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::model
