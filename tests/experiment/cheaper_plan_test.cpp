// SPDX-License-Identifier: Apache-2.0
// A draft's frequency file in a config: found beside it, named in the cell, hashed into provenance.
#include <catch2/catch.hpp>

#include "experiment/provenance.hpp"
#include "experiment/trial.hpp"

using namespace redline;
using namespace redline::experiment;

namespace {

std::string argument(const Cell& cell, const std::string& name) {
  return std::ranges::find(cell.engine.draft.arguments, name, &plugin::Argument::name)->value;
}

std::string yaml(const std::string& frequencies, const std::string& more = "head_tokens: 8") {
  return std::string(kTrial) + "draft: {name: draft_model, model: small, " + more +
         ", frequencies: " + frequencies + "}\n";
}

}  // namespace

TEST_CASE("A frequency file lies beside the config, whatever its name ends with") {
  const Scratch scratch;
  const Cell cell = trial_plan(scratch, yaml("sub/counts")).cells.back();
  CHECK(argument(cell, "frequencies") == (scratch / "sub/counts").string());
  CHECK(argument(trial_plan(scratch, yaml("/else/counts")).cells.back(), "frequencies") ==
        "/else/counts");
  CHECK(argument(trial_plan(scratch, yaml("''")).cells.back(), "frequencies") == "");
}

TEST_CASE("A cell is the same wherever its frequency file lies, and another with another file") {
  const Scratch scratch;
  const auto hash = [&](const std::string& text) {
    return hash_of(trial_plan(scratch, text).cells.back());
  };
  CHECK(hash(yaml("/a/counts")) == hash(yaml("/b/counts")));
  CHECK(hash(yaml("/a/counts")) != hash(yaml("/a/others")));
  CHECK(hash(yaml("/a/counts")) != hash(yaml("/a/counts", "head_tokens: 9")));
  CHECK(hash(yaml("/a/counts")) != hash(yaml("/a/counts", "head_tokens: 8, requantize: q4_0")));
}

TEST_CASE("A frozen cell that names a frequency file is read back as it was written") {
  const Scratch scratch;
  for (const char* file : {"/a/counts", "''"}) {
    const Cell cell = trial_plan(scratch, yaml(file)).cells.back();
    CHECK(hash_of(read_cell(to_value(cell), scratch / "")) == hash_of(cell));
  }
}
