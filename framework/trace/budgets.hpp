// SPDX-License-Identifier: Apache-2.0
// What a length policy decided in a run, from the trace it left.
#pragma once
#include <filesystem>

#include "redline/recorded_budgets.hpp"

namespace redline::trace {

// Of a file, or of a cell's folder: a later attempt has the word where both hold a request, as it
// threw away what the earlier left half done. InputError: no trace, two cells, or a writer that
// stored no budgets.
RecordedBudgets recorded_budgets(const std::filesystem::path& path);

}  // namespace redline::trace
