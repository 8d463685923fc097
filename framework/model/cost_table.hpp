// SPDX-License-Identifier: Apache-2.0
// The cost curve of one model on one machine: measured, and kept beside the packed weights.
#pragma once
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "files/gguf.hpp"
#include "kv/page_pool.hpp"
#include "model/forward.hpp"
#include "redline/cost.hpp"

namespace redline::model {

// What a curve holds for; a curve of anything else is another file.
struct CostKey {
  const files::Gguf& model;
  std::string isa;
  int threads, ranks;
  std::string variant = {};  // what was made cheaper at load; "": nothing
};

struct CostPlan {
  std::vector<int> rows, contexts;
  int repeats = 5;
  std::function<void(const std::string& what)> progress = {};  // may be empty
};
// The default of a run: rows and contexts that the model and the pool have room for.
CostPlan cost_plan(const Forward& forward, const kv::PagePool& pool);

// Median forward of each point; every row wants its argmax, as a verified row does. DeviceError:
// the pool has no pages for it.
CostCurve measure_cost(Forward& forward, kv::PagePool& pool, const CostPlan& plan);

// The stored curve; measured and stored first when there is none, or a damaged one (which is said).
CostCurve cost_of(const std::filesystem::path& cache_folder, const CostKey& key, Forward& forward,
                  kv::PagePool& pool, const std::function<void(const std::string&)>& progress);

// kv: what the pages of the model hold.
std::filesystem::path cost_path(const std::filesystem::path& cache_folder, const CostKey& key,
                                kernels::KvType kv = kernels::KvType::F16);
CostCurve read_cost(const std::filesystem::path& path);  // InputError: unreadable or damaged
void write_cost(const std::filesystem::path& path, const CostCurve& curve);  // DeviceError
std::string to_json(const CostCurve& curve);  // {"points": [[context, rows, ns], ...]}

}  // namespace redline::model
