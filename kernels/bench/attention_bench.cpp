// SPDX-License-Identifier: Apache-2.0
// Attention of M rows over a context, on one thread, in the shape of a 1.5B model: 12 heads, 2 kv
// heads, E = 128, 28 layers, whose KV no cache holds. Counters say how far it is from its roofline,
// max(KV bytes / read bandwidth, multiply-adds / FMA peak), both of one thread of this process.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <vector>

#include "limits.hpp"
#include "redline/kernels/ops.hpp"
#include "redline/kernels/peak.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kHeads = 12, kKvHeads = 2, kHeadSize = 128, kWidth = kHeads * kHeadSize;
constexpr std::int64_t kLayers = 28;

// Pages of one sequence, all layers of a page side by side, in the large pages of a pool.
class Pages {
 public:
  Pages(KvType type, std::int64_t slots)
      : layer_bytes_(2 * kKvHeads * kv_part_bytes(type, kHeadSize)),
        bytes_(static_cast<std::size_t>((slots / kPageTokens + 1) * kLayers * layer_bytes_)),
        memory_(static_cast<std::byte*>(
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        kv_{nullptr, 0, kKvHeads, kHeadSize, type} {
    ::madvise(memory_, bytes_, MADV_HUGEPAGE);
    std::fill_n(memory_, bytes_, std::byte{0x2c});
    for (std::size_t at = 0; at < bytes_; at += static_cast<std::size_t>(kLayers * layer_bytes_))
      list_.push_back(memory_ + at);
    kv_.pages = list_.data();
  }
  ~Pages() { ::munmap(memory_, bytes_); }
  Pages(const Pages&) = delete;
  PagedKv layer(std::int64_t index) const {
    PagedKv kv = kv_;
    kv.layer_offset = index * layer_bytes_;
    return kv;
  }
  std::int64_t layer_bytes() const { return layer_bytes_; }  // of a page

 private:
  std::int64_t layer_bytes_;
  std::size_t bytes_;
  std::byte* memory_;
  std::vector<std::byte*> list_;
  PagedKv kv_;
};

// A chain behind the context, or a tree whose node has two children as long as there are nodes.
struct Rows {
  std::vector<std::vector<std::int32_t>> tails;
  std::vector<Visibility> sees;
  std::int64_t seen = 0;  // by all rows

  Rows(std::int64_t rows, std::int64_t context, bool is_tree) {
    for (std::int64_t t = 0; t < rows; ++t) {
      std::vector<std::int32_t> tail;
      if (is_tree && t > 0) tail = tails[static_cast<std::size_t>((t - 1) / 2)];
      if (is_tree) tail.push_back(static_cast<std::int32_t>(context + t));
      tails.push_back(std::move(tail));
    }
    for (std::int64_t t = 0; t < rows; ++t) {
      const auto& tail = tails[static_cast<std::size_t>(t)];
      sees.push_back({is_tree ? context : context + t + 1, tail.data(), std::ssize(tail)});
      seen += sees.back().prefix + sees.back().tail_size;
    }
  }
};

double fma_peak(Isa isa) {  // a second
  constexpr std::int64_t kRounds = 100000;
  std::int64_t done = 0;
  const double took = seconds_of([&] { done = peak_loops(isa).fmas(kRounds); });
  return static_cast<double>(done) / took;
}

// state: rows, context
void run_attention(benchmark::State& state, Isa isa, KvType type, bool is_tree) {
  const Ops& table = ops(isa);
  const std::int64_t rows = state.range(0), context = state.range(1);
  const Pages pages(type, context + rows);
  const Rows all(rows, context, is_tree);
  std::vector<float> q(static_cast<std::size_t>(rows * kWidth)), out(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = static_cast<float>(i * 7919 % 1000) * 1e-3f;
  std::vector<std::byte> scratch(
      static_cast<std::size_t>(table.attention_scratch_bytes(kHeads, kKvHeads, kHeadSize)));
  for (auto _ : state) {
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      const PagedKv kv = pages.layer(layer);
      for (std::int64_t head = 0; head < kKvHeads; ++head)
        table.attention(kv, all.sees.data(), q.data(), kHeads, kWidth, out.data(), kWidth, head,
                        scratch.data(), {0, rows});
    }
    benchmark::DoNotOptimize(out.data());
  }
  const double bytes = static_cast<double>((context + rows) * kLayers * pages.layer_bytes()) /
                       static_cast<double>(kPageTokens);
  const double fmas = static_cast<double>(2 * kWidth * all.seen * kLayers);
  state.counters["fma/s"] = rate(fmas);
  state.counters["B/s"] = rate(bytes);
  const double least = std::max(bytes / read_peak(), fmas / fma_peak(isa));
  state.counters["of_roofline"] = rate(least);  // seconds at best over seconds taken
}

void register_attention() {
  for (const Isa isa : supported())
    for (const KvType type : {KvType::F16, KvType::F32, KvType::Q8_0})
      for (const bool is_tree : {false, true}) {
        const std::string title = "attention/" + std::string(name(isa)) + "/" +
                                  std::string(name(type)) + (is_tree ? "/tree" : "/chain");
        auto* const bench =
            benchmark::RegisterBenchmark(title.c_str(), run_attention, isa, type, is_tree);
        bench->ArgNames({"rows", "context"})->Unit(benchmark::kMillisecond);
        for (const std::int64_t context : {512, 4096})
          for (const std::int64_t rows : {1, 2, 4, 6, 8, 16, 32})
            if (!is_tree || rows >= 16) bench->Args({rows, context});
      }
}

[[maybe_unused]] const bool registered = (register_attention(), true);

}  // namespace
}  // namespace redline::kernels
