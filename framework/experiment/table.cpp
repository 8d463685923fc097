// SPDX-License-Identifier: Apache-2.0
#include "experiment/table.hpp"

#include <algorithm>

namespace redline::experiment {

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      if (i) out += "  ";
      out += i ? pad + row[i] : row[i] + pad;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string Table::markdown() const {
  std::string out;
  for (const auto& row : rows_) {
    for (const std::string& cell : row) out.append("| ").append(cell) += ' ';
    out += "|\n";
    if (&row != &rows_.front()) continue;
    for (std::size_t i = 0; i < row.size(); ++i) out += i ? "|---:" : "|---";
    out += "|\n";
  }
  return out;
}

}  // namespace redline::experiment
