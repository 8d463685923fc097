// SPDX-License-Identifier: Apache-2.0
// The passes over one row, on one thread, in the sizes of a 1.5B model. What they read and write
// lies in the caches; `of_copy` is the time of copying as many bytes there over theirs. An
// embedding comes from memory: `of_roofline` divides the lines it needs by the read bandwidth.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "limits.hpp"
#include "redline/kernels/kv_page.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kHidden = 1536, kWidth = 8960, kVocab = 151936;

std::vector<float> row_of(std::int64_t count) {
  std::mt19937 random(1);
  std::vector<float> row(static_cast<std::size_t>(count));
  for (float& value : row) value = std::normal_distribution<float>()(random);
  return row;
}

// pass(ops) once an iteration, which reads and writes so many floats.
template <class Pass>
void add(const std::string& title, Isa isa, std::int64_t read, std::int64_t written, Pass pass) {
  const auto body = [=, pass = std::move(pass)](benchmark::State& state) mutable {
    const Ops& table = ops(isa);
    for (auto _ : state) pass(table);
    state.counters["of_copy"] =
        rate(copy_seconds(static_cast<std::size_t>(read) * sizeof(float),
                          static_cast<std::size_t>(written) * sizeof(float)));
  };
  benchmark::RegisterBenchmark((title + "/" + std::string(name(isa))).c_str(), body)
      ->Unit(benchmark::kMicrosecond);
}

void register_layers(Isa isa) {
  add("add_rms_norm", isa, 3 * kHidden, 2 * kHidden,
      [x = row_of(kHidden), delta = row_of(kHidden), weight = row_of(kHidden),
       out = row_of(kHidden)](const Ops& table) mutable {
        table.add_rms_norm(x.data(), delta.data(), weight.data(), 1e-6f, kHidden, out.data(),
                           {0, 1});
        benchmark::DoNotOptimize(out.data());
      });
  add("swiglu", isa, 2 * kWidth, kWidth,
      [both = row_of(2 * kWidth), out = row_of(kWidth)](const Ops& table) mutable {
        table.swiglu(both.data(), both.data() + kWidth, kWidth, 0, out.data(), {0, 1});
        benchmark::DoNotOptimize(out.data());
      });
  for (const Grain grain : kGrains)
    add(grain == Grain::WIDE ? "quantize_wide" : "quantize_narrow", isa, kWidth, kWidth / 4,
        [grain, x = row_of(kWidth),
         out = std::vector<std::byte>(activation_bytes(1, kWidth))](const Ops& table) mutable {
          table.quantize(x.data(), kWidth, 1, kWidth, grain, out.data(), {0, 1}, {0, kWidth});
          benchmark::DoNotOptimize(out.data());
        });
}

void register_rope(Isa isa) {
  constexpr std::int64_t kHeads = 12, kKvHeads = 2, kHeadSize = 128, kAll = kHeads + 2 * kKvHeads;
  struct State {
    std::vector<float> qkv = row_of(kAll * kHeadSize), cosine = row_of(kHeadSize / 2),
                       sine = row_of(kHeadSize / 2);
    std::vector<std::byte> page =
        std::vector<std::byte>(2 * kKvHeads * kv_part_bytes(KvType::F16, kHeadSize));
  };
  add("rope_append", isa, kAll * kHeadSize, kAll * kHeadSize,
      [of = State()](const Ops& table) mutable {
        std::byte* const pages[] = {of.page.data()};
        const PagedKv kv{pages, 0, kKvHeads, kHeadSize};
        const PagedKv* const kvs[] = {&kv};
        const std::int32_t position = 0, slot = 3;
        const Rope rope{RopePairs::NEOX, kHeadSize, of.cosine.data(), of.sine.data()};
        float* const k = of.qkv.data() + kHeads * kHeadSize;
        table.rope_append(rope, &position, &slot, kvs, of.qkv.data(), kHeads, kAll * kHeadSize, k,
                          k + kKvHeads * kHeadSize, kAll * kHeadSize, {0, 1});
        benchmark::DoNotOptimize(of.page.data());
      });
}

void register_vocabulary(Isa isa) {
  add("argmax", isa, kVocab, 0, [logits = row_of(kVocab)](const Ops& table) {
    benchmark::DoNotOptimize(table.argmax(logits.data(), kVocab));
  });
  add("spread", isa, kVocab, 0, [logits = row_of(kVocab)](const Ops& table) {
    benchmark::DoNotOptimize(table.spread(logits.data(), kVocab));
  });
  add("softmax", isa, kVocab, kVocab,
      [logits = row_of(kVocab), p = row_of(kVocab)](const Ops& table) mutable {
        benchmark::DoNotOptimize(table.softmax(logits.data(), kVocab, p.data()));
      });
  add("block_maxima", isa, kVocab, kVocab / kMaximaBlock,
      [logits = row_of(kVocab),
       maxima = row_of(kVocab / kMaximaBlock + 1)](const Ops& table) mutable {
        benchmark::DoNotOptimize(table.block_maxima(logits.data(), kVocab, maxima.data()));
      });
}

// A row lies in all lines of its tile.
void run_embed(benchmark::State& state, Isa isa, WeightType type) {
  const std::vector<std::byte> data(static_cast<std::size_t>(packed_bytes(type, kVocab, kHidden)));
  const PackedMatrix w{type, kVocab, kHidden, data.data()};
  std::vector<float> out(kHidden);
  std::mt19937 random(2);
  const Ops& table = ops(isa);
  for (auto _ : state) {
    const auto token = static_cast<std::int32_t>(random() % kVocab);
    table.embed(w, &token, out.data(), {0, 1});
    benchmark::DoNotOptimize(out.data());
  }
  state.counters["of_roofline"] =
      rate(static_cast<double>(tile_bytes(type, kHidden)) / read_peak());
}

void register_rows() {
  for (const Isa isa : supported()) {
    register_layers(isa);
    register_rope(isa);
    register_vocabulary(isa);
    for (const WeightType type :
         {WeightType::F16, WeightType::Q8_0, WeightType::Q4_K, WeightType::Q6_K})
      benchmark::RegisterBenchmark(
          ("embed/" + std::string(name(isa)) + "/" + std::string(name(type))).c_str(), run_embed,
          isa, type)
          ->Unit(benchmark::kMicrosecond);
  }
}

[[maybe_unused]] const bool registered = (register_rows(), true);

}  // namespace
}  // namespace redline::kernels
