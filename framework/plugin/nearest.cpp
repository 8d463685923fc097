// SPDX-License-Identifier: Apache-2.0
#include "plugin/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace redline::plugin {
namespace {

std::size_t edits(std::string_view a, std::string_view b) {  // insert, delete, replace
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j)
      diagonal = std::exchange(
          row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])}));
  }
  return row.back();
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  std::string listed, near;
  std::size_t fewest = 1 + std::max<std::size_t>(2, word.size() / 3);  // further is no misspelling
  for (const std::string& name : known) {
    (listed += listed.empty() ? "" : ", ") += name;
    if (const std::size_t n = edits(word, name); n < fewest) fewest = n, near = name;
  }
  return (near.empty() ? ". Known: " : "; did you mean '" + near + "'? Known: ") + listed;
}

}  // namespace redline::plugin
