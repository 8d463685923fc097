// SPDX-License-Identifier: Apache-2.0
// A plugin with one parameter of each type, and one whose constructor fails.
#include "redline/plugin.hpp"

namespace {

class Everything final : public redline::DraftLength {
 public:
  struct Params {
    int count = 3;
    double share = 0.25;
    bool is_on = false;
    std::string label = "none", mode = "slow";
    void visit(redline::ParameterVisitor& v) {
      v("count", count, {0, 8}, "how many");
      v("share", share, {0, 1}, "how much");
      v("is_on", is_on, "whether");
      v("label", label, "any text");
      v("mode", mode, {"slow", "fast"}, "one of two");
    }
  };
  explicit Everything(const Params& p) : params_(p) {}

 private:
  void do_choose(std::span<const redline::Turn>, std::span<redline::Budget> out) override {
    for (auto& b : out)
      b = {params_.count, params_.is_on && params_.mode == "fast" && params_.label == "x"
                              ? static_cast<int>(params_.share * 100)
                              : 0};
  }
  Params params_;
};

class Failing final : public redline::Drafter {
 public:
  Failing() { throw std::runtime_error("cannot start"); }

 private:
  redline::DrafterContract do_contract() const override { return {}; }
  void do_propose(std::span<redline::Proposal>) override {}
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Everything>("test_everything", "a parameter of each type"),
               redline::entry<Failing>("test_failing", "cannot be made"));
