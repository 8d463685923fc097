// SPDX-License-Identifier: Apache-2.0
#include "redline/emission.hpp"

#include <cmath>

namespace redline {
inline namespace v1 {

List<double> Emission::read(const Row& row) {
  List<double> out(row.vocab());
  row.read(0, out);
  return out;
}
void Emission::end(const Row& law) {
  const List<double> rest = read(law);
  for (std::size_t x = 0; x < law_.size(); ++x) law_[x] += left_ * rest[x];
  left_ = 0;
}
double Emission::tv(const Row& p) const {
  const List<double> target = read(p);
  double sum = 0;
  for (std::size_t x = 0; x < law_.size(); ++x) sum += std::abs(law_[x] - target[x]);
  return sum / 2;
}

bool has_fixed_laws(const Draft& draft, Node u) {
  bool is_drawn = false;  // some sibling before
  for (Node c = draft.first_child(u); c != kNone; c = draft.next_sibling(c)) {
    const Draft::Item& item = draft.item(c);
    if (item.law != Law::ROW) continue;
    if (is_drawn && (item.flags & EXCLUDE_EARLIER_SIBLINGS)) return false;
    is_drawn = true;
  }
  return true;
}

}  // namespace v1
}  // namespace redline
