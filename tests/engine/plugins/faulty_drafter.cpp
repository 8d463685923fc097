// SPDX-License-Identifier: Apache-2.0
// A chain from a model, as draft_model makes it; on marked sequences one fault.
#include <limits>

#include "marked.hpp"

namespace {
using redline::Node, redline::Row, redline::kRoot, redline::kNone, redline::Law, redline::Proposal;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class Faulty final : public redline::Drafter {
 public:
  struct Params {
    std::string model, how;
    void visit(redline::ParameterVisitor& v) {
      v("model", model, "the draft model");
      v("how", how, "the fault");
    }
  };
  Faulty(const Params& p, redline::Host& host) : how_(p.how), model_(host.open_model(p.model)) {}

 private:
  redline::DrafterContract do_contract() const override {
    return {.emits = {.row = true}, .shape = redline::Shape::TREE};
  }
  std::unique_ptr<redline::State> do_begin(const redline::Sequence& s) override {
    if (how_.starts_with("begin") && faulty::is_marked(s)) faulty::fail(how_);
    return nullptr;
  }
  void do_observe(std::span<const redline::Outcome> batch) override {
    for (const auto& o : batch)
      if (how_.starts_with("observe") && faulty::is_due(o.turn.sequence)) faulty::fail(how_);
  }
  void do_propose(std::span<Proposal> batch) override {
    for (Proposal& proposal : batch) {
      Node at = kRoot;
      while (at != kNone && proposal.has_room(at)) {
        at = proposal.sample(at, model_.next(proposal, at));
        if (how_ == "never ends") std::this_thread::sleep_for(std::chrono::hours(1));
        if (faulty::is_due(proposal.sequence())) go_wrong(proposal);
      }
    }
  }

  void go_wrong(Proposal& p) {
    const auto vocab = p.sequence().vocab;
    if (how_.starts_with("propose")) faulty::fail(how_);
    if (how_ == "nap") std::this_thread::sleep_for(faulty::kNap);
    if (how_ == "no limit")
      for (Node n = kRoot;;) n = p.add(n, 5);  // also below kNone
    if (how_ == "cycle") p.append({.parent = p.draft().size() + 1, .token = 5});
    if (how_ == "wrong parent") p.append({.parent = 99, .token = 5});
    if (how_ == "negative parent") p.append({.parent = -7, .token = 5});
    if (how_ == "negative token") p.add(kRoot, -1);
    if (how_ == "token V") p.add(kRoot, vocab);
    if (how_ == "twin") p.append({.token = 5}), p.append({.token = 5});
    if (how_ == "no row") p.append({.token = 5, .law = Law::ROW});
    if (how_ == "row of NaN") p.sample(kRoot, row_of(vocab, kNan));
    if (how_ == "row of infinity") p.sample(kRoot, row_of(vocab, kInfinity));
    if (how_ == "row of 2") p.sample(kRoot, row_of(vocab, 2));
    if (how_ == "row of another V") p.sample(kRoot, row_of(vocab + 1, 1));
    if (how_ == "asked node") model_.next(p, 99);
    if (how_ == "asked shorter text") {
      redline::Sequence shorter = p.sequence();
      shorter.tokens = shorter.tokens.first(1);
      const redline::Ask ask{shorter, p.draft(), kRoot};
      model_.forward({&ask, 1});
    }
    if (how_ == "asked stranger") {
      redline::Sequence stranger = p.sequence();
      stranger.id += 1;
      const redline::Ask ask{stranger, p.draft(), kRoot};
      model_.forward({&ask, 1});
    }
  }
  static Row row_of(std::int32_t vocab, float first) {
    std::vector<float> p(static_cast<std::size_t>(vocab));
    p[0] = first;
    return Row::dense(p);
  }

  std::string how_;
  redline::Model& model_;
};
}  // namespace

REDLINE_PLUGIN(redline::entry<Faulty>("faulty_drafter", "one fault on marked sequences"));
