// SPDX-License-Identifier: Apache-2.0
// Attention of M rows over a context, shapes of a 1.5B model: 12 heads, 2 kv heads, E = 128.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kHeads = 12, kKvHeads = 2, kHeadSize = 128, kWidth = kHeads * kHeadSize;
constexpr std::int64_t kPageBytes = 2 * kKvHeads * kPageTokens * kHeadSize * 2;

void run_attention(benchmark::State& state, Isa isa) {
  const Ops& table = ops(isa);
  const std::int64_t rows = state.range(0), context = state.range(1), slots = context + rows;
  std::vector<std::byte> memory(static_cast<std::size_t>((slots / kPageTokens + 1) * kPageBytes),
                                std::byte{0x2c});
  std::vector<std::byte*> pages;
  for (std::size_t at = 0; at < memory.size(); at += kPageBytes) pages.push_back(&memory[at]);
  const PagedKv kv{pages.data(), 0, kKvHeads, kHeadSize};
  std::vector<Visibility> sees;
  for (std::int64_t t = 0; t < rows; ++t) sees.push_back({context + t + 1, nullptr, 0});
  std::vector<float> q(static_cast<std::size_t>(rows * kWidth), 0.1f), out(q.size());
  std::vector<std::byte> scratch(
      static_cast<std::size_t>(table.attention_scratch_bytes(kHeads, kKvHeads, kHeadSize)));
  for (auto _ : state) {
    for (std::int64_t head = 0; head < kKvHeads; ++head)
      table.attention(kv, sees.data(), q.data(), kHeads, kWidth, out.data(), kWidth, head,
                      scratch.data(), {0, rows});
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(memory.size()));
}

[[maybe_unused]] const bool registered = [] {
  for (Isa isa : supported())
    benchmark::RegisterBenchmark(("attention/" + std::string(name(isa))).c_str(), run_attention,
                                 isa)
        ->ArgsProduct({{1, 2, 4, 6, 8, 16}, {256, 2048}})
        ->ArgNames({"rows", "context"})
        ->Unit(benchmark::kMicrosecond);
  return true;
}();

}  // namespace
}  // namespace redline::kernels
