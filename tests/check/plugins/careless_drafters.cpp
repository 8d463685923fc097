// SPDX-License-Identifier: Apache-2.0
// Drafters that forget an edge, mix up their sequences, or draft what their contract does not say.
// Else a chain drawn from the draft model.
#include <array>

#include "redline/plugin.hpp"

namespace {
using redline::Node, redline::Proposal, redline::kNone, redline::kRoot;

enum class Fault {
  FRONT,       // takes for granted that a batch has a first
  NO_ROOM,     // and that there is room for four
  NAN_ROW,     // and that a row can be computed
  BY_PLACE,    // depth by the place in the batch
  BY_REQUEST,  // depth by how many requests came before
  SIXTEEN,     // remembers sixteen sequences
  ROW,         // what follows is not in its contract
  COUPLED,
  TREE,
  AUXILIARY,
  TARGET_ROWS,
  WANTS_AUXILIARY,  // in its contract, and no engine gives it
};

template <Fault kFault>
class Careless final : public redline::Drafter {
 public:
  Careless(const redline::NoParams&, redline::Host& host) : model_(host.open_model("draft")) {}

 private:
  struct Depth final : redline::State {
    explicit Depth(int d) : depth(d) {}
    int depth;
  };
  redline::DrafterContract do_contract() const override {
    redline::DrafterContract contract{.emits = {.row = kFault != Fault::ROW}};
    if (kFault == Fault::WANTS_AUXILIARY) contract.needs.auxiliary_rows = 2;
    return contract;
  }
  std::unique_ptr<redline::State> do_begin(const redline::Sequence&) override {
    const bool is_counted = kFault == Fault::BY_REQUEST;
    return std::make_unique<Depth>(is_counted ? 1 + requests_++ % 4 : 4);
  }
  void do_propose(std::span<Proposal> batch) override {
    if (kFault == Fault::FRONT && batch.empty()) throw redline::Error("a batch has no first");
    int place = 0;
    for (Proposal& p : batch) draft(p, place++);
  }
  void draft(Proposal& p, int place) {
    int depth = p.state<Depth>().depth;
    if (kFault == Fault::BY_PLACE) depth = 1 + place % 4;
    if (kFault == Fault::SIXTEEN) {  // as deep as the other sequence of this place was not
      redline::Token& last = lasts_[p.sequence().id % lasts_.size()];
      depth = 1 + last % 4;
      last = p.sequence().tokens.back();
    }
    if (kFault == Fault::AUXILIARY) p.look({0, 1, {}});
    Node at = kRoot;
    for (int k = 0; k < depth && p.has_room(at); ++k) at = grow(p, at);
    if (kFault == Fault::NO_ROOM && p.draft().size() < 4) throw redline::Error("no room for four");
  }
  Node grow(Proposal& p, Node at) {
    try {
      const redline::Row q = model_.next(p, at);
      if (kFault == Fault::COUPLED) return p.couple(at, q);
      if (kFault == Fault::TREE) p.sample(at, q);
      return p.sample(at, q);
    } catch (const redline::Error&) {
      if (kFault == Fault::NAN_ROW) std::abort();
      throw;
    }
  }
  void do_observe(std::span<const redline::Outcome> batch) override {
    for (const redline::Outcome& o : batch)
      if (kFault == Fault::TARGET_ROWS && o.p.empty())
        throw redline::Error("no rows of the target");
  }

  redline::Model& model_;
  int requests_ = 0;
  std::array<redline::Token, 16> lasts_{};
};

template <bool kDeclares, bool kHasHead, bool kAtRoot>
class Headed final : public redline::Drafter {  // Medusa's first head, drafted one deep or two
 public:
  Headed(const redline::NoParams&, redline::Host& host) : head_(host.open_module("", build)) {}

 private:
  static void build(redline::ModuleBuilder& m) {
    const redline::Value x = m.hidden(0);
    if (kHasHead) m.head("0", m.linear("0.linear", x));
  }
  redline::DrafterContract do_contract() const override {
    redline::DrafterContract contract{.emits = {.row = true}};
    if (kDeclares) contract.needs.taps = {redline::Tap{}};
    return contract;
  }
  void do_propose(std::span<Proposal> batch) override {
    for (Proposal& p : batch) {
      if (!p.has_room(kRoot)) continue;
      const Node n = p.sample(kRoot, head_.next(p, kRoot));
      if (!kAtRoot && n != kNone && p.has_room(n)) p.sample(n, head_.next(p, n));
    }
  }
  redline::Model& head_;
};
}  // namespace

REDLINE_PLUGIN(redline::entry<Careless<Fault::FRONT>>("front", "takes a batch to have a first"),
               redline::entry<Careless<Fault::NO_ROOM>>("no_room", "takes room for granted"),
               redline::entry<Careless<Fault::NAN_ROW>>("nan_row", "dies of a broken row"),
               redline::entry<Careless<Fault::BY_PLACE>>("by_place", "depth by place in the batch"),
               redline::entry<Careless<Fault::BY_REQUEST>>("by_request", "depth by request"),
               redline::entry<Careless<Fault::SIXTEEN>>("sixteen", "remembers sixteen sequences"),
               redline::entry<Careless<Fault::ROW>>("undeclared_row", "samples"),
               redline::entry<Careless<Fault::COUPLED>>("undeclared_coupled", "couples"),
               redline::entry<Careless<Fault::TREE>>("undeclared_tree", "branches"),
               redline::entry<Careless<Fault::AUXILIARY>>("undeclared_auxiliary", "looks aside"),
               redline::entry<Careless<Fault::TARGET_ROWS>>("undeclared_rows", "reads p"),
               redline::entry<Careless<Fault::WANTS_AUXILIARY>>("wants_auxiliary", "rows aside"),
               redline::entry<Headed<true, true, true>>("headed", "a head, as it should be"),
               redline::entry<Headed<false, true, true>>("headed_untapped", "declares no tap"),
               redline::entry<Headed<true, false, true>>("headless", "a graph without a head"),
               redline::entry<Headed<true, true, false>>("headed_below", "asks below the root"));
