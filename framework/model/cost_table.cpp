// SPDX-License-Identifier: Apache-2.0
#include "model/cost_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "files/json.hpp"
#include "model/forward_clock.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

namespace fs = std::filesystem;

}  // namespace

CostPlan cost_plan(const Forward& forward, const kv::PagePool& pool) {
  CostPlan plan;
  for (const int rows : {1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64})
    if (rows <= forward.max_rows()) plan.rows.push_back(rows);
  const std::int64_t slots =
      std::min<std::int64_t>(forward.context(), std::int64_t{pool.obtainable()} * kv::kPageTokens);
  for (const int context : {64, 512, 2048})
    if (context + plan.rows.back() <= slots) plan.contexts.push_back(context);
  if (plan.contexts.empty()) plan.contexts.push_back(0);
  std::erase_if(plan.rows, [&](int rows) { return plan.contexts.back() + rows > slots; });
  return plan;
}

CostCurve measure_cost(Forward& forward, kv::PagePool& pool, const CostPlan& plan) {
  CostCurve curve;
  ForwardClock clock(forward, pool);
  for (const int context : plan.contexts) {
    if (plan.progress)
      plan.progress("measuring what forwards cost, once: " + std::to_string(plan.rows.size()) +
                    " widths at context " + std::to_string(context));
    clock.fill(context);
    std::vector<std::vector<double>> times(plan.rows.size());
    for (const int rows : plan.rows) clock.chain(rows);    // warms caches and threads
    for (int repeat = 0; repeat < plan.repeats; ++repeat)  // a slow moment slows all widths alike
      for (std::size_t k = 0; k < times.size(); ++k) times[k].push_back(clock.chain(plan.rows[k]));
    for (std::size_t k = 0; k < times.size(); ++k)
      curve.points.push_back({context, plan.rows[k], median(times[k])});
  }
  return curve;
}

CostCurve cost_of(const fs::path& cache_folder, const CostKey& key, Forward& forward,
                  kv::PagePool& pool, const std::function<void(const std::string&)>& progress) {
  const fs::path path = cost_path(cache_folder, key, pool.shape().type);
  try {
    if (fs::exists(path)) return read_cost(path);
  } catch (const Error& damage) {
    if (progress) progress(std::string(damage.what()) + "; measured again");
  }
  CostPlan plan = cost_plan(forward, pool);
  plan.progress = progress;
  CostCurve curve = measure_cost(forward, pool, plan);
  write_cost(path, curve);
  return curve;
}

fs::path cost_path(const fs::path& cache_folder, const CostKey& key, kernels::KvType kv) {
  const std::string pages =
      kv == kernels::KvType::F16 ? "" : "-kv-" + std::string(kernels::name(kv));
  return cache_folder / "costs" /
         (key.model.path().stem().string() + "-" + key.model.header_sha256().substr(0, 12) + "-" +
          (key.variant.empty() ? "" : key.variant + "-") + key.isa + "-t" +
          std::to_string(key.threads) + "-r" + std::to_string(key.ranks) + pages + ".json");
}

CostCurve read_cost(const fs::path& path) {
  const auto refuse = [&path](const std::string& why) {
    throw InputError("cost table " + path.string() + ": " + why + "; remove it to measure anew");
  };
  CostCurve curve;
  const files::json::value whole = files::read_json(path);
  try {
    for (const files::json::value& point : whole.at("points").as_array())
      curve.points.push_back({point.at(0).to_number<std::int32_t>(),
                              point.at(1).to_number<std::int32_t>(),
                              point.at(2).to_number<double>()});
  } catch (const std::exception&) {
    refuse("expected points of context, rows and ns");
  }
  const auto place = [](const auto& p) { return std::pair(p.context, p.rows); };
  const auto falls = std::ranges::adjacent_find(curve.points, std::ranges::greater_equal(), place);
  if (curve.empty() || falls != curve.points.end()) refuse("its points do not rise");
  if (!std::ranges::all_of(curve.points, [](const auto& p) { return p.ns > 0; }))
    refuse("it holds a time that is not positive");
  return curve;
}

std::string to_json(const CostCurve& curve) {
  files::json::array points;
  for (const auto& p : curve.points) points.push_back({p.context, p.rows, p.ns});
  return files::json::serialize(files::json::object{{"points", points}});
}

void write_cost(const fs::path& path, const CostCurve& curve) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const fs::path part = fs::path(path).concat(".part-" + std::to_string(::getpid()));
  std::ofstream(part) << to_json(curve) << "\n";
  fs::rename(part, path, error);
  if (error)
    throw DeviceError("cost table: cannot write " + path.string() + ": " + error.message() +
                      "; set REDLINE_CACHE to another folder");
}

}  // namespace redline::model
