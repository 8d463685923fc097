// SPDX-License-Identifier: Apache-2.0
// Siblings drawn without replacement and declared as i.i.d., from a model that a user names.
#include "redline/plugin.hpp"

namespace {

class WithoutReplacement final : public redline::Drafter {
 public:
  struct Params {
    redline::ModelChoice model;
    int children = 2;
    void visit(redline::ParameterVisitor& v) {
      model.visit(v);
      v("children", children, {1, 8}, "siblings");
    }
  };
  WithoutReplacement(const Params& p, redline::Host& host)
      : children_(p.children), model_(host.open_model(p.model)) {}

 private:
  redline::DrafterContract do_contract() const override {
    return {.emits = {.row = true}, .shape = redline::Shape::TREE};
  }
  void do_propose(std::span<redline::Proposal> batch) override {
    for (redline::Proposal& p : batch) {
      if (!p.has_room(redline::kRoot)) continue;
      const redline::Row q = model_.next(p, redline::kRoot);
      std::vector<redline::Token> used;
      for (int k = 0; k < children_; ++k) {
        used.push_back(p.draws().categorical(redline::kRoot, q.without(used)));
        p.append({redline::kRoot, used.back(), redline::Law::ROW, q});
      }
    }
  }
  int children_;
  redline::Model& model_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<WithoutReplacement>("n6_of_model",
                                                  "without replacement declared as i.i.d."));
