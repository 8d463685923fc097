// SPDX-License-Identifier: Apache-2.0
#include "trace/reader.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "redline/error.hpp"
#include "trace/check.hpp"
#include "trace/folder.hpp"
#include "trace/hdf5.hpp"
#include "trace/synthetic.hpp"
#include "trace/writer.hpp"

using namespace redline;
using namespace redline::trace;
using Catch::Matchers::Contains;
using synthetic::Folder;

namespace {

void write_trace(const std::filesystem::path& path, Level level = Level::FULL) {
  std::filesystem::create_directories(path.parent_path());
  Writer writer(path, synthetic::header(level));
  for (std::uint32_t s = 0; s < synthetic::steps(5); ++s) writer.step(synthetic::step(5, s, level));
  writer.request(synthetic::request(5));
  writer.close();
}

}  // namespace

TEST_CASE("Columns come back as they were written, missing values as they are declared") {
  const Folder folder;
  write_trace(folder / "trace-000.h5");
  const Reader reader(folder / "trace-000.h5");
  CHECK(reader.read<std::uint64_t>("/requests", "request_key").at(0) == synthetic::key(5));
  const auto parents = reader.read<std::int64_t>("/nodes", "parent");
  CHECK(std::vector(parents.begin(), parents.begin() + 1) == std::vector<std::int64_t>{-1});
  const auto ids = reader.read<std::uint64_t>("/logits/target", "topk_ids", 0, 1);
  CHECK(ids == std::vector<std::uint64_t>{0, 1, 2, 0xFFFFFFFF});
  CHECK(std::isnan(reader.read<double>("/logits/target", "topk_vals", 0, 1).back()));
  const auto full = reader.read<double>("/logits/target_full", "values", 0, 1);
  REQUIRE(full.size() == synthetic::kVocab);
  for (int i = 0; i < synthetic::kVocab; ++i) CHECK(full[i] == 5 - i / 8.0);  // exact in half
}

TEST_CASE("The header is found where the document says") {
  const Folder folder;
  write_trace(folder / "trace-000.h5");
  const Reader reader(folder / "trace-000.h5");
  CHECK(reader.attribute("/", "level") == "full");
  CHECK(reader.attribute("/", "state") == "complete");
  CHECK(reader.attribute("/", "format_version") == "[1, 2]");
  CHECK(reader.attribute("/models/target", "name") == "made-up");
  CHECK(reader.attribute("/meta/clock", "name") == "CLOCK_MONOTONIC");
  CHECK(reader.attribute("/", "nothing").empty());
  CHECK(reader.groups("/plugins") == std::vector<std::string>{"draft"});
}

TEST_CASE("A run folder gives its cells in order and their attempts in order") {
  const Folder folder;
  for (const char* name :
       {"cells/b-1/trace-000.h5", "cells/a-2/trace-001.h5", "cells/a-2/trace-000.h5"})
    write_trace(folder / name, Level::COUNTS);
  std::ofstream(folder / "cells/a-2/trace-002.h5.new") << "unfinished";
  CHECK(trace_files(folder.path()) ==
        std::vector<std::filesystem::path>{folder / "cells/a-2/trace-000.h5",
                                           folder / "cells/a-2/trace-001.h5",
                                           folder / "cells/b-1/trace-000.h5"});
  CHECK(trace_files(folder / "cells/b-1").size() == 1);
  CHECK_THROWS_AS(trace_files(folder / "cells"), InputError);
  CHECK_THROWS_AS(trace_files(folder / "nowhere"), InputError);
}

TEST_CASE("Columns of a later version are listed and hurt nobody") {
  const Folder folder;
  write_trace(folder / "trace-000.h5");
  {
    hdf5::File file = hdf5::File::reopen(folder / "trace-000.h5", false);
    file.dataset("/steps/of_the_future", hdf5::Type::F32, 16, 3);
    file.close();
  }
  const Reader reader(folder / "trace-000.h5");
  CHECK(reader.columns("/steps").back().name == "of_the_future");
  CHECK(reader.rows("/steps") == synthetic::steps(5));
  CHECK(check(reader).violations.empty());
}

TEST_CASE("A cut file is an error that names it") {
  const Folder folder;
  write_trace(folder / "trace-000.h5");
  const auto whole = std::filesystem::file_size(folder / "trace-000.h5");
  for (int i = 0; i < 40; ++i) {
    const auto cut = folder / ("cut-" + std::to_string(i) + ".h5");
    std::filesystem::copy_file(folder / "trace-000.h5", cut);
    std::filesystem::resize_file(cut, whole * i / 40);
    CHECK_THROWS_AS(Reader(cut), InputError);
    CHECK_THROWS_WITH(Reader(cut), Contains(cut.string()));
  }
}

TEST_CASE("A file of another format is refused by its format") {
  const Folder folder;
  hdf5::File::create(folder / "other.h5", false).close();
  CHECK_THROWS_WITH(Reader(folder / "other.h5"), Contains("format \"\" where \"redline-trace\""));
}
