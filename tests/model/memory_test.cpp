// SPDX-License-Identifier: Apache-2.0
// What a model takes of the machine at its peak, in a process of its own: the file, the KV pages
// and the buffers that memory_need() states.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "kv/cache.hpp"
#include "kv/lease.hpp"
#include "tiny.hpp"

using namespace redline;
using namespace redline::model;

namespace {

constexpr const char* kModel = "REDLINE_MEMORY_TEST_MODEL";  // "": a process without a model
constexpr std::int32_t kRows = 64;
// Pages in part, the allocator's own, and what the system maps around each small tensor it is asked
// for: less than a second copy of the weights.
constexpr std::int64_t kSlack = 16 << 20;

LoadOptions options_of(const std::filesystem::path& model) {
  return {.cache_folder = model.parent_path() / "weights",
          .max_rows = kRows,
          .max_positions = 256,
          .progress = {}};
}

std::int64_t peak_bytes() {  // VmHWM: of this process, so far
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

void run_forward(const std::filesystem::path& path) {
  device::Device device(2, kernels::best());
  parallel::Solo ranks;
  Decoder decoder(files::Gguf::open(path), device, ranks, options_of(path));
  kv::PagePool pool(decoder.kv_shape(), kRows / kv::kPageTokens);
  kv::Cache cache(pool);
  auto lease = kv::Lease::reserve(cache, kRows);
  Batch batch;
  const auto ids = some_ids(kRows, decoder.vocab());
  for (std::int32_t at = 0; at < kRows; ++at)
    batch.rows.push_back({.token = ids[at],
                          .position = at,
                          .slot = at,
                          .prefix = at + 1,
                          .want = at + 1 == kRows ? Want::ROW : Want::NOTHING});
  batch.segments.push_back({&cache, 0, kRows});
  decoder.forward(batch);
}

// Of a process that runs the case below.
std::int64_t peak_of_child(const std::string& model) {
  ::setenv(kModel, model.c_str(), 1);
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> child(
      ::popen(("'" + self + "' '[.memory_child]'").c_str(), "r"), &::pclose);
  REQUIRE(child);
  long long bytes = 0;
  char line[256];
  while (std::fgets(line, sizeof line, child.get())) std::sscanf(line, "peak %lld", &bytes);
  ::unsetenv(kModel);
  return bytes;
}

}  // namespace

TEST_CASE("the process that the memory test looks at", "[.memory_child]") {
  const char* const model = std::getenv(kModel);
  if (model && *model) run_forward(model);
  std::printf("peak %lld\n", static_cast<long long>(peak_bytes()));
}

TEST_CASE("the peak of a model is its file, its KV and its buffers, when it is packed and after") {
  const TinyFile file(TinySpec{.layers = 6,
                               .hidden = 512,
                               .heads = 8,
                               .kv_heads = 4,
                               .feed_forward = 4096,
                               .type = files::TensorType::Q8_0});
  const auto file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(file.path()));
  REQUIRE(file_bytes > 2 * kSlack);
  const MemoryNeed need = Decoder::memory_need(file.open(), options_of(file.path()));
  const std::int64_t kv_bytes = kRows / kv::kPageTokens * need.kv.page_bytes();
  const std::int64_t most = file_bytes + file_bytes / 10 + kv_bytes + need.activations + kSlack;
  const std::int64_t code = peak_of_child("");
  REQUIRE(code > 0);
  for (const char* load : {"packed in this load", "packed before"}) {
    INFO(load << ": code " << code << ", file " << file_bytes << ", KV " << kv_bytes << ", buffers "
              << need.activations);
    const std::int64_t peak = peak_of_child(file.path());
    CHECK(peak > file_bytes);  // the weights are there
    CHECK(peak - code <= most);
  }
}
