// SPDX-License-Identifier: Apache-2.0
#include "model/weight_cache.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

#include "redline/error.hpp"
#include "tiny.hpp"

using namespace redline;
using namespace redline::model;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kMatrices = {"token_embd.weight", "blk.0.attn_q.weight",
                                            "blk.1.ffn_down.weight"};

struct Opened {
  explicit Opened(const TinyFile& tiny, int threads = 2, bool in_huge_pages = true)
      : file(tiny.open()),
        pool(threads),
        cache(file, as_stored(file, kMatrices), tiny.cache(), in_huge_pages, pool, {}) {}
  files::Gguf file;
  device::WorkerPool pool;
  WeightCache cache;
};

bool is_right(const Opened& opened) {
  for (const auto& name : kMatrices) {
    const files::Tensor& tensor = opened.file.tensor(name);
    const kernels::PackedMatrix& matrix = opened.cache.matrix(name);
    std::vector<std::byte> packed(kernels::packed_bytes(matrix.type, matrix.rows, matrix.cols));
    kernels::pack(matrix.type, matrix.rows, matrix.cols, tensor.bytes.data(), packed.data());
    if (std::memcmp(packed.data(), matrix.data, packed.size()) != 0) return false;
  }
  return true;
}

void overwrite(const fs::path& path, std::int64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset, offset < 0 ? std::ios::end : std::ios::beg);
  const char flipped = static_cast<char>(file.peek() ^ 0x10);
  file.seekp(offset, offset < 0 ? std::ios::end : std::ios::beg);
  file.put(flipped);
}

std::size_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

}  // namespace

TEST_CASE("Weights are packed once, then mapped or copied into huge pages") {
  const bool in_huge_pages = GENERATE(false, true);
  const TinyFile tiny(TinySpec{});
  const Opened first(tiny, 2, in_huge_pages);
  CHECK(first.cache.was_packed_now());
  CHECK(is_right(first));
  const Opened second(tiny, 1, in_huge_pages);
  CHECK_FALSE(second.cache.was_packed_now());
  CHECK(is_right(second));
  CHECK(second.cache.path() == first.cache.path());
  CHECK_THROWS_AS(second.cache.matrix("blk.0.attn_k.weight"), Error);
}

TEST_CASE("A damaged, short or foreign file is packed again") {
  const TinyFile tiny(TinySpec{});
  const bool in_huge_pages = GENERATE(false, true);
  const fs::path path = Opened(tiny).cache.path();
  const auto size = static_cast<std::int64_t>(fs::file_size(path));
  SECTION("a flipped bit in the tiles") { overwrite(path, size / 2); }
  SECTION("a flipped bit in the last tile") {
    overwrite(path, size - 4096);
    overwrite(path, size - 4096);
    overwrite(path, 2 * 4096 + 5);
  }
  SECTION("a flipped bit in the checksums") { overwrite(path, 4096); }
  SECTION("a flipped bit in the head") { overwrite(path, 30); }
  SECTION("cut short") { fs::resize_file(path, size - 1); }
  SECTION("empty") { fs::resize_file(path, 0); }
  SECTION("too long") { fs::resize_file(path, size + 1); }
  const Opened again(tiny, 2, in_huge_pages);
  CHECK(again.cache.was_packed_now());
  CHECK(is_right(again));
  CHECK_FALSE(Opened(tiny).cache.was_packed_now());
}

TEST_CASE("A model file that changed has a packed file of its own") {
  const TinyFile tiny(TinySpec{});
  const fs::path path = Opened(tiny).cache.path();
  SECTION("another time of change") {
    fs::last_write_time(tiny.path(), fs::last_write_time(tiny.path()) + std::chrono::seconds(1));
  }
  SECTION("other weights") { write_tiny_model({.type = files::TensorType::Q5_K}, tiny.path()); }
  SECTION("other weights in the same tick of the clock") {
    const auto changed = fs::last_write_time(tiny.path());
    write_tiny_model({.seed = 2}, tiny.path());
    fs::last_write_time(tiny.path(), changed);
  }
  const Opened again(tiny);
  CHECK(again.cache.was_packed_now());
  CHECK(again.cache.path() != path);
  CHECK(is_right(again));
}

TEST_CASE("Processes that pack at once end with one whole file") {
  const TinyFile tiny(TinySpec{.layers = 8});
  for (int i = 0; i < 4; ++i)
    if (::fork() == 0) ::_exit(is_right(Opened(tiny)) ? 0 : 1);
  for (int i = 0; i < 4; ++i) {
    int status = -1;
    ::wait(&status);
    CHECK(status == 0);
  }
  CHECK_FALSE(Opened(tiny).cache.was_packed_now());
  CHECK(files_in(tiny.cache()) == 2);  // the weights and their lock
}

TEST_CASE("A folder that cannot be made is an error that says what to do") {
  const TinyFile tiny(TinySpec{});
  std::ofstream(tiny.cache()) << "in the way";
  CHECK_THROWS_AS(Opened(tiny), DeviceError);
  CHECK_THROWS_WITH(Opened(tiny), Catch::Contains("REDLINE_CACHE"));
}

TEST_CASE("Progress rises to one and names what is done") {
  const TinyFile tiny(TinySpec{});
  const auto file = tiny.open();
  device::WorkerPool pool(1);
  std::vector<double> done;
  std::string last;
  const WeightCache cache(
      file, as_stored(file, kMatrices), tiny.cache(), true, pool,
      [&](double at, const std::string& what) { done.push_back(at), last = what; });
  CHECK(std::is_sorted(done.begin(), done.end()));
  CHECK(done.back() == 1.0);
  CHECK(last == "packing blk.1.ffn_down.weight");
}
