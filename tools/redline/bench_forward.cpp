// SPDX-License-Identifier: Apache-2.0
#include "redline/bench_forward.hpp"

#include <algorithm>
#include <cstdio>

#include "files/json.hpp"
#include "model/cost_table.hpp"
#include "redline/error.hpp"

namespace redline::tool {
namespace {

constexpr std::int32_t kPrefillRows = 64;

}  // namespace

int bench_forward(const BenchForwardOptions& options) {
  const int widest = *std::max_element(options.rows.begin(), options.rows.end());
  if (*std::min_element(options.rows.begin(), options.rows.end()) < 1 || widest > 4096 ||
      options.context < 0 || options.repeats < 1)
    throw InputError(
        "bench forward: rows from 1 to 4096, a context of 0 or more, 1 repeat or more");
  LoadedModel loaded(options.model, std::max(widest, kPrefillRows), options.context + widest);
  model::Decoder& decoder = loaded.decoder();
  if (options.context + widest > decoder.context())
    throw InputError("bench forward: context " + std::to_string(options.context) + " and " +
                     std::to_string(widest) + " rows, the model takes " +
                     std::to_string(decoder.context()) + " positions");
  kv::PagePool pool(decoder.kv_shape(), (options.context + widest) / kv::kPageTokens + 1);
  std::vector<int> rows = options.rows;
  std::ranges::sort(rows);
  const CostCurve curve = model::measure_cost(decoder, pool,
                                              {.rows = std::move(rows),
                                               .contexts = {options.context},
                                               .repeats = options.repeats,
                                               .progress = {}});
  files::json::array list;
  for (const auto& point : curve.points) {
    const double ms = point.ns / 1e6;
    list.push_back({{"rows", point.rows}, {"median_ms", ms}});
    if (!options.json) std::printf("%4d rows  %8.2f ms\n", point.rows, ms);
  }
  if (!options.json) return 0;
  const files::json::object result{{"model", options.model.model},
                                   {"isa", std::string(kernels::name(loaded.device().ops().isa))},
                                   {"threads", loaded.device().pool().threads()},
                                   {"context", options.context},
                                   {"load_seconds", loaded.load_seconds()},
                                   {"rows", list}};
  std::printf("%s\n", files::json::serialize(result).c_str());
  return 0;
}

}  // namespace redline::tool
