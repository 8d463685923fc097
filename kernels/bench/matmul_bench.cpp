// SPDX-License-Identifier: Apache-2.0
// Matmul per weight type, rows and instruction set over more weights than the caches hold, beside
// the plain read bandwidth of the same threads: the ratio is what counts, hosts are shared.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kRows = 8960, kCols = 1536;  // one projection of a 1.5B model
constexpr std::int64_t kFootprintBytes = 256 << 20, kLineBytes = 64;

struct Weights {  // copies of one random matrix, back to back
  PackedMatrix matrix;
  std::int64_t copies;
  std::vector<std::byte> data;

  Weights(WeightType type, std::int64_t rows, std::int64_t footprint_bytes) {
    const std::int64_t bytes = packed_bytes(type, rows, kCols);
    copies = footprint_bytes / bytes + 1;
    data.resize(static_cast<std::size_t>(bytes * copies + kLineBytes));
    std::mt19937_64 random(1);
    for (std::size_t at = 0; at + 8 <= data.size(); at += 8) {
      const std::uint64_t bits = random() & 0x0f7f0f7f0f7f0f7fu;  // finite as halves and floats
      std::memcpy(data.data() + at, &bits, 8);
    }
    const auto past_line = reinterpret_cast<std::uintptr_t>(data.data()) % kLineBytes;
    matrix = {type, rows, kCols, data.data() + (kLineBytes - past_line) % kLineBytes};
  }
  PackedMatrix copy(std::int64_t index) const {
    PackedMatrix one = matrix;
    one.data += index * packed_bytes(matrix.type, kRows, kCols);
    return one;
  }
};

const Weights& weights(WeightType type) {
  static std::unique_ptr<Weights> last;  // one type at a time: they are large
  if (!last || last->matrix.type != type)
    last = std::make_unique<Weights>(type, kRows, kFootprintBytes);
  return *last;
}

// Built by the first thread; the start of the timed loop is a barrier for all.
const Weights* shared_weights;
std::vector<float> shared_floats;
std::vector<std::byte> shared_x;

void run_matmul(benchmark::State& state, Isa isa, WeightType type) {
  const Ops& table = ops(isa);
  const std::int64_t rows = state.range(0);
  if (state.thread_index() == 0) {
    shared_weights = &weights(type);
    std::vector<float>& x = shared_floats;
    x.resize(static_cast<std::size_t>(rows * kCols));
    std::mt19937 random(2);
    for (float& value : x) value = std::normal_distribution<float>()(random);
    shared_x.resize(static_cast<std::size_t>(activation_bytes(rows, kCols)));
    for (Grain grain : kGrains)
      table.quantize(x.data(), kCols, rows, kCols, grain, shared_x.data(), {0, row_passes(rows)},
                     {0, kCols});
  }
  std::vector<float> out(static_cast<std::size_t>(rows * kRows));
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const std::int64_t tiles = shared_weights->matrix.tiles(), threads = state.threads();
    const Range range{tiles * state.thread_index() / threads,
                      tiles * (state.thread_index() + 1) / threads};
    for (std::int64_t copy = 0; copy < shared_weights->copies; ++copy) {
      table.matmul(shared_weights->copy(copy), {shared_floats.data(), shared_x.data()}, rows,
                   nullptr, out.data(), kRows, range);
      bytes += (range.end - range.begin) * tile_bytes(type, kCols);
    }
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(bytes);
  const std::int64_t products = bytes / tile_bytes(type, kCols) * kTileRows * kCols * rows;
  state.counters["mac/s"] =
      benchmark::Counter(static_cast<double>(products), benchmark::Counter::kIsRate);
}

// One thread and weights that stay in the second cache level: the rate of the arithmetic.
void run_cached(benchmark::State& state, Isa isa, WeightType type) {
  constexpr std::int64_t kCachedRows = 256;
  const Ops& table = ops(isa);
  const std::int64_t rows = state.range(0);
  const Weights w(type, kCachedRows, 0);
  std::vector<float> x(static_cast<std::size_t>(rows * kCols), 0.5f);
  std::vector<float> out(static_cast<std::size_t>(rows * kCachedRows));
  std::vector<std::byte> quantized(static_cast<std::size_t>(activation_bytes(rows, kCols)));
  for (Grain grain : kGrains)
    table.quantize(x.data(), kCols, rows, kCols, grain, quantized.data(), {0, row_passes(rows)},
                   {0, kCols});
  for (auto _ : state) {
    table.matmul(w.matrix, {x.data(), quantized.data()}, rows, nullptr, out.data(), kCachedRows,
                 {0, w.matrix.tiles()});
    benchmark::DoNotOptimize(out.data());
  }
  state.counters["mac/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * rows * kCachedRows * kCols),
                         benchmark::Counter::kIsRate);
}

void run_read(benchmark::State& state) {
  if (state.thread_index() == 0) shared_weights = &weights(WeightType::Q4_K);
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const std::vector<std::byte>& data = shared_weights->data;
    const std::size_t share = data.size() / static_cast<std::size_t>(state.threads()) / 64 * 64;
    const std::byte* at = data.data() + share * static_cast<std::size_t>(state.thread_index());
    std::uint64_t sum = 0;
    for (const std::byte* const end = at + share; at < end; at += 64) {  // a word brings its line
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      __builtin_prefetch(at + 12288, 0, 2);
      sum += word;
    }
    benchmark::DoNotOptimize(sum);
    bytes += static_cast<std::int64_t>(share);
  }
  state.SetBytesProcessed(bytes);
}

void register_all() {
  benchmark::RegisterBenchmark("read", run_read)->Threads(2)->UseRealTime();
  for (Isa isa : supported()) {
    for (int type = 0; type <= static_cast<int>(WeightType::Q6_K); ++type) {
      const auto weight_type = static_cast<WeightType>(type);
      const std::string title =
          "matmul/" + std::string(name(isa)) + "/" + std::string(name(weight_type));
      benchmark::RegisterBenchmark(title.c_str(), run_matmul, isa, weight_type)
          ->DenseRange(1, 8)
          ->Arg(12)
          ->Arg(16)
          ->Arg(64)
          ->Threads(2)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
      const std::string cached =
          "cached/" + std::string(name(isa)) + "/" + std::string(name(weight_type));
      benchmark::RegisterBenchmark(cached.c_str(), run_cached, isa, weight_type)
          ->RangeMultiplier(2)
          ->Range(1, 8);
    }
  }
}

[[maybe_unused]] const bool registered = (register_all(), true);

}  // namespace
}  // namespace redline::kernels
