// SPDX-License-Identifier: Apache-2.0
#include "model/cost_table.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "model/tiny.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

using Catch::Matchers::Contains;

struct Bench {
  Bench() : pool(decoder->kv_shape(), 16) {}
  CostCurve cost() {
    said.clear();
    return cost_of(file.cache(), {of, "portable", 1, 1}, *decoder, pool,
                   [this](const std::string& line) { said.push_back(line); });
  }
  std::filesystem::path path() const { return cost_path(file.cache(), {of, "portable", 1, 1}); }

  TinyFile file{TinySpec{.layers = 1, .extra_vocab = 0}};
  files::Gguf of = file.open();
  TinyDecoder decoder{file};
  kv::PagePool pool;
  std::vector<std::string> said;
};

bool same(const CostCurve& a, const CostCurve& b) {
  return std::ranges::equal(a.points, b.points, [](const auto& x, const auto& y) {
    return x.context == y.context && x.rows == y.rows && x.ns == y.ns;
  });
}

TEST_CASE("A cost curve is measured once: later runs read the very same numbers") {
  Bench bench;
  const CostCurve first = bench.cost();
  CHECK_FALSE(bench.said.empty());
  CHECK(first.points.size() == bench.cost().points.size());
  CHECK(bench.said.empty());  // nothing was measured
  CHECK(same(bench.cost(), first));
  CHECK(bench.pool.available() == bench.pool.total());
}

TEST_CASE("Another instruction set, thread count, degree or type of KV has a curve of its own") {
  const Bench bench;
  const auto path = [&](const char* isa, int threads, int ranks) {
    return cost_path(bench.file.cache(), {bench.of, isa, threads, ranks});
  };
  CHECK(path("avx2", 1, 1) != path("portable", 1, 1));
  CHECK(path("portable", 2, 1) != path("portable", 1, 1));
  CHECK(path("portable", 1, 2) != path("portable", 1, 1));
  CHECK(cost_path(bench.file.cache(), {bench.of, "portable", 1, 1}, kernels::KvType::Q8_0) !=
        path("portable", 1, 1));
}

TEST_CASE("A damaged cost table is said and measured again") {
  Bench bench;
  bench.cost();
  for (const char* text :
       {"", "{", "{}", R"({"points": []})", R"({"points": [[1, 2]]})",
        R"({"points": [[64, 2, 5.0], [64, 1, 5.0]]})", R"({"points": [[64, 1, -1.0]]})"}) {
    INFO(text);
    std::ofstream(bench.path()) << text;
    CHECK_THROWS_AS(read_cost(bench.path()), InputError);
    CHECK_FALSE(bench.cost().empty());
    REQUIRE_FALSE(bench.said.empty());
    CHECK_THAT(bench.said.front(), Contains("measured again"));
    CHECK_NOTHROW(read_cost(bench.path()));
  }
}

}  // namespace
}  // namespace redline::model
