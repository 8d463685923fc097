// SPDX-License-Identifier: Apache-2.0
// Strategies compared over the same prompts and seeds, and what rules foretold held against what
// they kept: which differences are real, and which chance may have made.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/bootstrap.hpp"
#include "experiment/pairs.hpp"
#include "experiment/request_log.hpp"
#include "experiment/table.hpp"

namespace redline::experiment {

// What a strategy's cells have finished; a request and a seed name one text.
using BySeed = std::map<std::uint64_t, std::vector<Finished>>;

// Of fewer requests a percentile interval is much too narrow.
inline constexpr std::size_t kFewestRequests = 8;
inline constexpr std::string_view kByCostTable = "tokens/s by cost table";

struct PairedRow {
  std::string of, to, measure;
  std::size_t requests = 0;  // that both have finished
  double of_mean = 0, to_mean = 0;
  Estimate difference;
  // The interval excludes 0, and Holm over the table lets it stand; nothing of too few requests.
  std::optional<bool> is_real = {};
};

// A row a measure that both know.
std::vector<PairedRow> paired_rows(const Pair& pair, const BySeed& of, const BySeed& to);
void judge(std::vector<PairedRow>& rows);  // Holm over them all
Table table_of(const std::vector<PairedRow>& rows);
config::Value to_value(const PairedRow& row);

struct ForetoldRow {  // drafted tokens kept a drafting step
  std::string cell;   // of all seeds
  std::size_t requests = 0;
  double foretold = 0, kept = 0;
  Estimate difference;              // kept - foretold
  std::optional<bool> agrees = {};  // likewise
};

// Nothing where the rule foretells nothing.
std::vector<ForetoldRow> foretold_rows(const std::string& cell, const BySeed& requests);
void judge(std::vector<ForetoldRow>& rows);
Table table_of(const std::vector<ForetoldRow>& rows);
config::Value to_value(const ForetoldRow& row);

}  // namespace redline::experiment
