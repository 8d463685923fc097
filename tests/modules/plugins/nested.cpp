// SPDX-License-Identifier: Apache-2.0
// A drafter that has a head of its own and drafts with another drafter's.
#include "modules/heads.hpp"
#include "redline/plugin.hpp"

namespace {

class Nested final : public redline::Drafter {
 public:
  struct Params {
    std::string weights, inner;
    void visit(redline::ParameterVisitor& v) {
      v("weights", weights, "Medusa's heads");
      v("inner", inner, "weights of the drafter toy_eagle");
    }
  };
  Nested(const Params& p, redline::Host& host) {
    host.open_module(p.weights, redline::tests::build_medusa);
    const redline::Setting settings[] = {{"weights", p.inner}};
    inner_ = host.open<redline::Drafter>("toy_eagle", settings);
  }

 private:
  redline::DrafterContract do_contract() const override {
    redline::DrafterContract contract = inner_->contract();
    contract.needs.taps = redline::tests::medusa_taps();
    return contract;
  }
  void do_propose(std::span<redline::Proposal> batch) override { inner_->propose(batch); }
  std::unique_ptr<redline::Drafter> inner_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Nested>("toy_nested", "a head, and a drafter with another"));
