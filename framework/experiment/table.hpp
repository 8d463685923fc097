// SPDX-License-Identifier: Apache-2.0
// Text in columns: for the terminal, and for a Markdown page.
#pragma once
#include <string>
#include <vector>

namespace redline::experiment {

class Table {
 public:
  explicit Table(std::vector<std::string> heads) : rows_{std::move(heads)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;
  std::string markdown() const;

 private:
  bool numeric(std::size_t column) const;
  std::vector<std::vector<std::string>> rows_;  // the first holds the heads
};

}  // namespace redline::experiment
