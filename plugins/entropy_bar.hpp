// SPDX-License-Identifier: Apache-2.0
// Is p(x) > min(cap, share exp(-H(p)))? Entropy is the dearest question to a row, so it is asked
// last: 1/V <= exp(-H) <= max p decides most tokens without it.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "redline/row.hpp"

namespace {

class EntropyBar {
 public:
  EntropyBar(redline::Row p, double cap, double share)
      : p_(std::move(p)), cap_(cap), share_(share), best_(p_.at(p_.argmax())) {}
  bool clears(redline::Token x) {
    const double p = p_.at(x);
    if (p > std::min(cap_, share_ * best_)) return true;
    if (p <= std::min(cap_, share_ / p_.vocab())) return false;
    if (!spread_) spread_ = std::exp(-p_.entropy());
    return p > std::min(cap_, share_ * *spread_);
  }

 private:
  redline::Row p_;
  double cap_, share_, best_;
  std::optional<double> spread_;  // exp(-H), once asked
};

}  // namespace
