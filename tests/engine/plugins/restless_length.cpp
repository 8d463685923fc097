// SPDX-License-Identifier: Apache-2.0
// A policy whose budgets and answers no two runs share: what a reader of the clock may do at worst.
#include <random>

#include "redline/plugin.hpp"

namespace {

class Restless final : public redline::DraftLength {
  redline::Reads do_reads() const override { return redline::Reads::CLOCK; }
  void do_choose(std::span<const redline::Turn>, std::span<redline::Budget> budgets) override {
    for (redline::Budget& b : budgets) {
      const int depth = static_cast<int>(device_() % 6);
      b = {depth * (1 + static_cast<int>(device_() % 3)), depth};
    }
  }
  bool do_proceed(redline::Turn, int, const redline::Row&) const override {
    return device_() % 4 != 0;
  }
  mutable std::random_device device_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Restless>("restless_length", "other budgets in every run"));
