// SPDX-License-Identifier: Apache-2.0
// Rank 0's side of a group of ranks: it opens models on the first ranks and tells the followers of
// each forward before it runs its own shard. All that decides stands above model::Forward and knows
// of no rank.
#pragma once
#include <memory>
#include <vector>

#include "model/lead_forward.hpp"

namespace redline::model {

class Lead {
 public:
  explicit Lead(parallel::Communicator& world) : orders_(world) {}
  ~Lead();                     // the followers stop
  Lead(const Lead&) = delete;  // models hold its address

  int ranks() const { return orders_.world().size(); }
  // On the first `degree` ranks; one rank is a plain decoder, of which nobody is told. `pages`: of
  // each rank's pool. InputError: a degree that the model or the group cannot have.
  std::unique_ptr<LedModel> open(const files::Gguf& file, int degree, device::Device& device,
                                 const LoadOptions& options, std::int32_t pages);

  // On the ranks of its target. taps: see Module. InputError: a graph that cannot run.
  std::unique_ptr<LedModule> open_module(const files::Gguf& file, const ModuleGraph& graph,
                                         const std::vector<std::int32_t>& taps, LedModel& target,
                                         device::Device& device, const LoadOptions& options,
                                         std::int32_t pages);

 private:
  template <class Open>
  std::uint32_t tell(Order order, const Open& what);
  Orders orders_;
  std::uint32_t opened_ = 0;
};

}  // namespace redline::model
