// SPDX-License-Identifier: Apache-2.0
// What a step leaves in the trace, by level, held against the models' own rows.
#include <catch2/catch.hpp>

#include "step/text.hpp"

namespace redline::step {
namespace {

double lse(const std::vector<float>& row) {
  double sum = 0;
  for (const float x : row) sum += std::exp(double{x});
  return std::log(sum);
}

struct Traced {
  std::vector<Token> before;  // the text the step began with
  Progress made;
};
std::vector<Traced> trace(CellSpec spec, trace::Level level, int tokens = 40) {
  spec.level = level;
  spec.topk = 4;
  Cell cell(spec);
  Philox noise;
  Sequence s = cell.open(prompt(6), 6, tokens);
  std::vector<Traced> out;
  while (s.tokens_left > 0) {
    auto before = s.tokens;
    out.push_back({std::move(before), cell.run(s, noise)});
  }
  return out;
}
CellSpec tree() { return sampled(like_target(2), table("2;2,1", "iid"), {"accept_delta"}); }
CellSpec line() { return sampled(like_target(2), chain(3), {"accept_ratio"}); }

std::vector<Token> text_at(const Traced& t, Node node) {  // of the row after a node
  std::vector<Token> path;
  for (; node != kRoot; node = t.made.record.nodes[node - 1].parent)
    path.push_back(t.made.record.nodes[node - 1].token);
  auto text = t.before;
  text.insert(text.end(), path.rbegin(), path.rend());
  return text;
}

TEST_CASE("Counts keep one meaning each and add up") {
  for (const CellSpec& spec : {tree(), line()}) {
    std::size_t committed = 0, accepted = 0, states = 0;
    std::uint32_t step = 0;
    for (const Traced& t : trace(spec, trace::Level::CHOSEN)) {
      const auto& r = t.made.record;
      CHECK(r.seq_step == step++);
      CHECK(r.context_len == t.before.size());
      CHECK(r.n_nodes == r.nodes.size());
      CHECK(r.committed == r.accepted_by_rule + 1);
      CHECK(r.committed == t.made.committed.size());
      CHECK(r.last_token == t.made.committed.back());
      CHECK(r.drafted == t.made.drafted);
      CHECK((r.kind == trace::StepKind::SPECULATIVE) == (r.n_nodes > 0));
      committed += r.committed, accepted += r.accepted_by_rule;
      for (const auto& n : r.nodes) states += n.state == trace::NodeState::ACCEPTED;
    }
    CHECK(committed == 40);
    CHECK(accepted > 0);
    CHECK(states == accepted);
  }
}

TEST_CASE("On request each node holds the most that any rule keeps beside it, otherwise nothing") {
  CellSpec asked = tree();
  asked.optimal = true;
  for (const Traced& t : trace(asked, trace::Level::CHOSEN))
    for (const trace::NodeRecord& n : t.made.record.nodes) {
      CHECK(n.optimal >= n.alpha - 1e-6F);  // of two, at least what one allows
      CHECK(n.optimal <= 1);
      CHECK(n.optimal == t.made.record.nodes[n.parent == 0 ? 0 : 2 * n.parent].optimal);
    }
  for (const Traced& t : trace(tree(), trace::Level::CHOSEN))
    for (const trace::NodeRecord& n : t.made.record.nodes) CHECK(std::isnan(n.optimal));
}

TEST_CASE("At level counts nothing but counts is kept") {
  for (const Traced& t : trace(tree(), trace::Level::COUNTS)) {
    CHECK(t.made.record.nodes.empty());
    CHECK(t.made.record.decisions.empty());
    CHECK(t.made.record.target_rows.empty());
    CHECK(t.made.record.draft_rows.empty());
  }
}

TEST_CASE("Rows hold log-sum-exp, best tokens, ranks and tail mass of the raw logits") {
  for (const Traced& t : trace(tree(), trace::Level::TOPK)) {
    const auto& r = t.made.record;
    CHECK(r.target_rows.size() == r.nodes.size() + 1);
    for (const auto& row : r.target_rows) {
      const auto logits = target_law()(text_at(t, row.node));
      CHECK(row.lse == Approx(lse(logits)).epsilon(1e-6));
      auto sorted = logits;
      std::sort(sorted.rbegin(), sorted.rend());
      REQUIRE(row.topk_values.size() == 4);
      double held = 0, entropy = 0;
      for (int k = 0; k < 4; ++k) {
        CHECK(row.topk_values[k] == sorted[k]);
        CHECK(logits[row.topk_ids[k]] == sorted[k]);
        held += std::exp(sorted[k] - lse(logits));
      }
      for (const float x : logits) entropy -= (x - lse(logits)) * std::exp(x - lse(logits));
      CHECK(row.tail_mass == Approx(1 - held).margin(1e-6));
      CHECK(row.entropy == Approx(entropy).margin(1e-5));
      CHECK(logits[row.argmax] == sorted[0]);
      CHECK(row.full.empty());
      if (!std::isnan(row.drafted_logit)) CHECK(sorted[row.drafted_rank] == row.drafted_logit);
    }
  }
}

TEST_CASE("The emitted logit stands at the rows of the kept path and nowhere else") {
  for (const Traced& t : trace(line(), trace::Level::FULL)) {
    const auto& r = t.made.record;
    for (const auto& row : r.target_rows) {
      CHECK(std::ranges::equal(row.full, target_law()(text_at(t, row.node))));
      if (row.node <= r.accepted_by_rule)  // a chain: node = depth
        CHECK(row.emitted_logit == row.full[t.made.committed[row.node]]);
      else
        CHECK(std::isnan(row.emitted_logit));
    }
    CHECK(r.draft_rows.size() == r.nodes.size());
    for (const auto& row : r.draft_rows)
      CHECK(std::ranges::equal(row.full, like_target(2)(text_at(t, row.node))));
  }
}

TEST_CASE("Nodes hold both laws' log-probabilities, the overlap and the rule's own test") {
  bool rejected = false, unreached = false;
  for (const Traced& t : trace(line(), trace::Level::CHOSEN)) {
    const auto& r = t.made.record;
    for (std::size_t k = 0; k < r.nodes.size(); ++k) {
      const auto& n = r.nodes[k];
      const auto text = text_at(t, n.parent);
      const auto p = target_law()(text), q = like_target(2)(text);
      CHECK(n.p_raw_logprob == Approx(p[n.token] - lse(p)).margin(1e-5));
      CHECK(n.q_raw_logprob == Approx(q[n.token] - lse(q)).margin(1e-5));
      CHECK(n.law == static_cast<int>(Law::ROW));
      CHECK((n.alpha > 0 && n.alpha <= 1 + 1e-6));
      const bool tested = n.state != trace::NodeState::NOT_REACHED;
      CHECK(std::isnan(n.accept_prob) != tested);
      if (tested)
        CHECK(n.accept_prob ==
              Approx(std::min(1.F, std::exp(n.p_logprob - n.q_logprob))).epsilon(1e-5));
      CHECK(n.draft_rank ==
            std::count_if(q.begin(), q.end(), [&](float x) { return x > q[n.token]; }));
      rejected |= n.state == trace::NodeState::REJECTED;
      unreached |= n.state == trace::NodeState::NOT_REACHED;
    }
    const bool full = r.accepted_by_rule == r.n_nodes;
    if (r.n_nodes > 0)
      CHECK(r.last_kind == (full ? trace::LastKind::BONUS : trace::LastKind::RESIDUAL));
    else
      CHECK(r.last_kind == trace::LastKind::TARGET_SAMPLE);
  }
  CHECK(rejected);
  CHECK(unreached);
}

TEST_CASE("Under match the children of passed nodes are rejected, those deeper not reached") {
  const CellSpec spec = sampled(like_target(2), table("2;2,1", "new"), {"accept_match"});
  for (const Traced& t : trace(spec, trace::Level::CHOSEN)) {
    const auto& nodes = t.made.record.nodes;
    for (const auto& n : nodes) {
      const bool parent_kept =
          n.parent == 0 || nodes[n.parent - 1].state == trace::NodeState::ACCEPTED;
      CHECK((n.state != trace::NodeState::NOT_REACHED) == parent_kept);
      CHECK(std::isnan(n.accept_prob));
    }
    if (!nodes.empty() && t.made.record.last_kind != trace::LastKind::BONUS)
      CHECK(t.made.record.last_kind == trace::LastKind::TARGET_SAMPLE);
  }
}

TEST_CASE("Why a draft ended is told: budget, policy, or that the drafter had no more") {
  const auto stops = [](CellSpec spec) {
    std::vector<trace::DraftStop> out;
    for (const Traced& t : trace(spec, trace::Level::COUNTS, 12))
      if (t.made.record.kind != trace::StepKind::PREFILL) out.push_back(t.made.record.draft_stop);
    return out;
  };
  CellSpec spec = line();
  CHECK(stops(spec).front() == trace::DraftStop::NONE);
  spec.length.values = {{"max_depth", "2"}};
  CHECK(stops(spec).front() == trace::DraftStop::BUDGET);
  spec.length.values = {{"p_min", "0.3"}};
  const auto policy = stops(spec);
  CHECK(std::count(policy.begin(), policy.end(), trace::DraftStop::POLICY) > 0);
}

TEST_CASE("A failed step keeps its counts alone") {
  CellSpec spec = line();
  spec.target = [](std::span<const Token> text) {
    return text.size() < 9 ? target_law()(text) : std::vector<float>(kVocab, NAN);
  };
  Cell cell(spec);
  Philox noise;
  Sequence s = cell.open(prompt(6), 6, 40);
  Progress made;
  while (made.error.empty()) made = cell.run(s, noise);
  CHECK(made.record.committed == 0);
  CHECK(made.record.last_kind == trace::LastKind::NONE);
  CHECK(made.committed.empty());
}

}  // namespace
}  // namespace redline::step
