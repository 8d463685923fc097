// SPDX-License-Identifier: Apache-2.0
#include "experiment/table.hpp"

#include <algorithm>

namespace redline::experiment {

// Numbers stand to the right; "-" and nothing stand for missing ones.
bool Table::numeric(std::size_t column) const {
  return std::all_of(rows_.begin() + 1, rows_.end(), [&](const auto& row) {
    const std::string& cell = row[column];
    return cell.empty() || cell[0] == '-' || (cell[0] >= '0' && cell[0] <= '9');
  });
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      if (i) out += "  ";
      out += numeric(i) ? pad + row[i] : row[i] + pad;
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
    for (std::size_t i = 0; i < row.size(); ++i) out += numeric(i) ? "|---:" : "|---";
    out += "|\n";
  }
  return out;
}

}  // namespace redline::experiment
