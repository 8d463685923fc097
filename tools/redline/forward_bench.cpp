// SPDX-License-Identifier: Apache-2.0
#include "redline/forward_bench.hpp"

#include "files/model_store.hpp"
#include "model/tiny_model.hpp"
#include "redline/error.hpp"

namespace redline::tool {
namespace {

constexpr const char* kTiny = "tiny";

ModelOptions generated(ModelOptions options, const std::filesystem::path& folder) {
  if (options.model != kTiny) return options;
  options.model = folder / "tiny.gguf";
  model::write_tiny_model({}, options.model);
  return options;
}

std::int32_t pages(const ForwardLimits& limits) {  // of the context and rows, and of a prompt
  return (limits.positions + limits.rows) / kv::kPageTokens + 2;
}

}  // namespace

std::optional<ForwardKind> forward_kind(std::string_view name) {
  if (name == "chain") return ForwardKind::CHAIN;
  if (name == "tree") return ForwardKind::TREE;
  if (name == "prompt") return ForwardKind::PROMPT;
  return std::nullopt;
}

ForwardBench::ForwardBench(const ModelOptions& options, const ForwardLimits& limits, int context)
    : limits_(limits),
      context_(context),
      cache_folder_(options.model == kTiny ? folder_.path() : files::cache_folder()),
      loaded_(generated(options, folder_.path()), {.cache_folder = cache_folder_,
                                                   .max_rows = limits.rows,
                                                   .max_wanted = limits.wanted,
                                                   .max_positions = limits.positions,
                                                   .progress = {}}),
      pool_(loaded_.decoder().kv_shape(), pages(limits)),
      clock_(loaded_.decoder(), pool_),
      probe_(loaded_.device()),
      work_(model::work_of(loaded_.file(), loaded_.load())) {
  if (context + limits.wanted > loaded_.decoder().context())
    throw InputError("bench forward: context " + std::to_string(context) + " and " +
                     std::to_string(limits.wanted) + " rows, the model takes " +
                     std::to_string(loaded_.decoder().context()) + " positions");
  clock_.fill(context);
}

double ForwardBench::ns(ForwardKind kind, int rows) {
  const int most = kind == ForwardKind::PROMPT ? limits_.rows : limits_.wanted;
  if (rows < 1 || rows > most)
    throw InputError("bench forward: " + std::to_string(rows) + " rows, expected 1 to " +
                     std::to_string(most));
  if (kind == ForwardKind::PROMPT) return clock_.prompt(rows);
  const double took = kind == ForwardKind::TREE ? clock_.tree(rows) : clock_.chain(rows);
  probe_.saw_read(model::read_bytes(work_, rows, context_), took);
  return took;
}

double ForwardBench::roofline_ns(int rows) const {
  return model::roofline_ns(work_, probe_.best(), rows, context_);
}

double ForwardBench::roofline_now_ns(int rows) const {
  return model::roofline_ns(work_, probe_.now(), rows, context_);
}

std::filesystem::path ForwardBench::store_costs(
    const std::function<void(const std::string&)>& progress) {
  model::CostPlan plan = model::cost_plan(loaded_.decoder(), pool_);
  plan.progress = progress;
  const model::CostKey key{loaded_.file(), std::string(isa()), threads(), /*ranks=*/1,
                           loaded_.savings().text()};
  const auto path = model::cost_path(cache_folder_, key, pool_.shape().type);
  model::write_cost(path, model::measure_cost(loaded_.decoder(), pool_, plan));
  return path;
}

}  // namespace redline::tool
