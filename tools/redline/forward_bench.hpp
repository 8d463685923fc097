// SPDX-License-Identifier: Apache-2.0
// One model whose forwards are timed, beside what its machine could do at best.
#pragma once
#include <optional>
#include <string_view>

#include "model/cost_table.hpp"
#include "model/forward_clock.hpp"
#include "model/roofline.hpp"
#include "redline/loaded_model.hpp"
#include "redline/scratch_folder.hpp"

namespace redline::tool {

enum class ForwardKind { CHAIN, TREE, PROMPT };
std::optional<ForwardKind> forward_kind(std::string_view name);  // "chain", "tree", "prompt"

struct ForwardLimits {
  int rows, wanted, positions;  // widest forward, of it with logits, and with what is before it
};

class ForwardBench {
 public:
  // The model "tiny" is generated. InputError: it takes fewer positions, or `context` leaves none.
  ForwardBench(const ModelOptions& options, const ForwardLimits& limits, int context);

  double ns(ForwardKind kind, int rows);  // InputError: more than the limits
  void probe() { probe_.measure(); }
  const model::Limits& best() const { return probe_.best(); }
  const model::ForwardWork& work() const { return work_; }
  double roofline_ns(int rows) const;      // by the best of all probes
  double roofline_now_ns(int rows) const;  // by the memory of the last one
  // Measures the default plan and keeps it as the costs that runs read. Where they lie.
  std::filesystem::path store_costs(const std::function<void(const std::string&)>& progress);

  std::string_view isa() { return kernels::name(loaded_.device().ops().isa); }
  int threads() { return loaded_.device().pool().threads(); }
  double load_seconds() const { return loaded_.load_seconds(); }

 private:
  ScratchFolder folder_;
  ForwardLimits limits_;
  int context_;
  std::filesystem::path cache_folder_;
  LoadedModel loaded_;
  kv::PagePool pool_;
  model::ForwardClock clock_;
  model::LimitsProbe probe_;
  model::ForwardWork work_;
};

}  // namespace redline::tool
