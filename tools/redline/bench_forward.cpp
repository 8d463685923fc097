// SPDX-License-Identifier: Apache-2.0
#include "redline/bench_forward.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "files/json.hpp"
#include "kv/lease.hpp"
#include "redline/error.hpp"

namespace redline::tool {
namespace {

constexpr std::int32_t kPrefillRows = 64;

// Rows [first, first + count) of a chain behind what the cache holds; any token costs the same.
model::Batch chain(kv::Cache& cache, std::int32_t first, std::int32_t count, std::int32_t vocab,
                   model::Want want) {
  model::Batch batch;
  for (std::int32_t slot = first; slot < first + count; ++slot)
    batch.rows.push_back({.token = slot * 7919 % vocab,
                          .position = slot,
                          .slot = slot,
                          .prefix = slot + 1,
                          .want = want});
  batch.segments.push_back({&cache, 0, count});
  return batch;
}

void prefill(model::Decoder& decoder, kv::Cache& cache, std::int32_t tokens) {
  while (cache.tokens() < tokens) {
    const std::int32_t first = cache.tokens(), count = std::min(kPrefillRows, tokens - first);
    auto lease = kv::Lease::reserve(cache, count);
    decoder.forward(chain(cache, first, count, decoder.vocab(), model::Want::NOTHING));
    std::vector<std::int32_t> kept(count);
    std::iota(kept.begin(), kept.end(), first);
    lease->commit(kept);
  }
}

double median_ms(model::Decoder& decoder, kv::Cache& cache, std::int32_t rows, int repeats) {
  const auto lease = kv::Lease::reserve(cache, rows);
  const model::Batch batch =
      chain(cache, cache.tokens(), rows, decoder.vocab(), model::Want::ARGMAX);
  std::vector<double> times;
  decoder.forward(batch);
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    decoder.forward(batch);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2];
}

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
  kv::Cache cache(pool);
  prefill(decoder, cache, options.context);
  files::json::array list;
  for (const int rows : options.rows) {
    const double ms = median_ms(decoder, cache, rows, options.repeats);
    list.push_back({{"rows", rows}, {"median_ms", ms}});
    if (!options.json) std::printf("%4d rows  %8.2f ms\n", rows, ms);
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
