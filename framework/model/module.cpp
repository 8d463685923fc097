// SPDX-License-Identifier: Apache-2.0
#include "model/module.hpp"

#include <algorithm>
#include <thread>

#include "model/module_run.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

ModuleRun::Limits limits_of(const LoadOptions& options) {
  const std::int32_t rows = options.max_rows;
  return {rows, options.max_wanted > 0 ? std::min(options.max_wanted, rows) : rows,
          options.max_positions};
}

}  // namespace

struct Module::Impl {
  Impl(const files::Gguf& file, const ModulePlan& of, const std::vector<std::int32_t>& taps,
       Decoder& decoder, device::Device& device, const LoadOptions& options)
      : plan(of),
        target(decoder),
        limits(limits_of(options)),
        weights(file, plan, options, device.pool()),
        rows({static_cast<std::int32_t>(limits.rows), static_cast<std::int32_t>(limits.wanted),
              static_cast<std::int32_t>(limits.positions), plan.vocab, plan.kv()}),
        sources(plan.feeding, static_cast<std::int32_t>(limits.rows)),
        run(plan, weights, taps, decoder, device, limits) {
    for (const std::int32_t tap : taps)
      if ((tap + 1) * decoder.shape().hidden > decoder.kv_shape().feature_floats)
        throw Error("module: tap " + std::to_string(tap) + " of a target that keeps " +
                    std::to_string(decoder.kv_shape().feature_floats) + " floats of a row");
    output.vocab = plan.vocab;
    output.heads = plan.feeding.heads;
  }

  const Output& forward(const Batch& batch) {
    if (plan.feeding.takes_features)
      for (const Segment& segment : batch.segments)
        if (segment.features && segment.features->shape() != target.kv_shape())
          throw Error("module: features of another target's shape");
    rows.lay_out(batch);
    sources.lay_out(batch);
    run.run(rows, sources);
    output.logits.assign(batch.rows.size() * output.heads, {});
    if (!target.is_lead()) return output;
    const auto& wanted = rows.wanted();
    for (std::size_t k = 0; k < wanted.size(); ++k)
      for (std::int32_t head = 0; head < output.heads; ++head)
        output.logits[wanted[k] * output.heads + head] =
            run.logits(static_cast<std::int64_t>(k), head);
    return output;
  }

  ModulePlan plan;
  Decoder& target;
  ModuleRun::Limits limits;
  ModuleWeights weights;
  RowPlan rows;
  ModuleRows sources;
  ModuleRun run;
  Output output;
};

MemoryNeed Module::memory_need(const files::Gguf& file, const ModulePlan& plan,
                               const LoadOptions& options) {
  const int workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return {ModuleWeights::bytes(file, plan),
          ModuleRun::bytes(plan, limits_of(options), kernels::ops(kernels::best()), workers),
          plan.kv()};
}

Module::Module(const files::Gguf& file, const ModulePlan& plan,
               const std::vector<std::int32_t>& taps, Decoder& target, device::Device& device,
               const LoadOptions& options)
    : impl_(std::make_unique<Impl>(file, plan, taps, target, device, options)) {}
Module::~Module() = default;

std::int32_t Module::vocab() const { return impl_->plan.vocab; }
std::int32_t Module::context() const { return static_cast<std::int32_t>(impl_->limits.positions); }
std::int32_t Module::max_rows() const { return static_cast<std::int32_t>(impl_->limits.rows); }
kv::KvShape Module::kv_shape() const { return impl_->plan.kv(); }
Feeding Module::feeding() const { return impl_->plan.feeding; }
const Output& Module::forward(const Batch& batch) { return impl_->forward(batch); }

}  // namespace redline::model
