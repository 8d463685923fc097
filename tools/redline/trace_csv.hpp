// SPDX-License-Identifier: Apache-2.0
// A table of one or more traces as CSV: a `file` column first when there are several, a number that
// is missing left empty when it is NaN, a wide column's values parted by blanks.
#pragma once
#include <filesystem>
#include <string>

namespace redline::tool {

// InputError: no such table, or `csv` cannot be written. Empty `csv`: standard output.
int export_csv(const std::filesystem::path& path, const std::string& table,
               const std::filesystem::path& csv);

}  // namespace redline::tool
