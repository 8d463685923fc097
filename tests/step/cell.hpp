// SPDX-License-Identifier: Apache-2.0
// Cells over the plugins of the build, by default with the tests' own drafter and policy.
#pragma once
#include <filesystem>

#include "check/cell.hpp"

namespace redline::step {

using check::Choice, check::hashed, check::ScriptedModel;

// Every plugin file of the build, loaded once a process.
inline const plugin::Registry& registry() {
  static const plugin::Registry all = [] {
    plugin::Registry r;
    for (const char* folder : {REDLINE_PLUGINS, REDLINE_STEP_PLUGINS})
      for (const auto& file : std::filesystem::directory_iterator(folder))
        if (file.path().extension() == ".so") r.load(file.path());
    return r;
  }();
  return all;
}

struct CellSpec {
  std::int32_t vocab;
  ScriptedModel::Law target, draft;
  Choice drafter = {"test_table"}, rule = {"accept_match"}, length = {"test_length"};
  std::vector<Choice> links = {};
  bool links_on_draft = false;
  std::int32_t target_context = 4096, draft_context = 4096, max_rows = 512, pages = 256;
  trace::Level level = trace::Level::COUNTS;
  std::int32_t topk = 2;
  bool optimal = false;
};

struct Cell : check::Cell {
  explicit Cell(const CellSpec& s)
      : check::Cell(registry(), {s.vocab, s.target, s.draft, s.drafter, s.rule, s.length, s.links,
                                 s.links_on_draft, s.target_context, s.draft_context, s.max_rows,
                                 s.pages, s.level, s.topk, s.optimal}) {}
};

}  // namespace redline::step
