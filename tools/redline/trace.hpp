// SPDX-License-Identifier: Apache-2.0
// redline trace info|check|export|schema: what a trace holds, whether it keeps its rules, a table
// as CSV, and the schema itself.
#pragma once
#include <filesystem>
#include <string>

namespace redline::tool {

struct TraceOptions {
  enum class Action { INFO, CHECK, EXPORT, SCHEMA } action = Action::INFO;
  std::filesystem::path path;  // a file, a cell folder or a run folder
  bool json = false;           // INFO
  std::string table;           // EXPORT: "steps", "logits/target"
  std::filesystem::path csv;   // EXPORT; empty: standard output
};
int trace(const TraceOptions& options);  // 0, or 1: a rule is broken

}  // namespace redline::tool
