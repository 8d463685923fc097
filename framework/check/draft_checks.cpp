// SPDX-License-Identifier: Apache-2.0
// Whether a drafter draws from the laws it writes down: exactly, by every outcome of its draws, and
// by the ranks of its tokens over long texts, which also sees chance that is not the host's.

#include <cmath>

#include "check/gates.hpp"
#include "check/statistics.hpp"
#include "check/subject.hpp"
#include "check/survey.hpp"
#include "check/texts.hpp"
#include "check/vectors.hpp"

namespace redline::check {
namespace {

constexpr double kRounding = 1e-6;  // rows are compared as float32
constexpr double kSize = 1e-6;      // of the test by ranks: it runs with every quick check
constexpr double kEnoughNodes = 500;

// Everything a token may depend on: the nodes before it, its parent and its row as declared.
using Condition = std::pair<std::vector<std::int64_t>, std::vector<float>>;

class DraftLaw {
 public:
  DraftLaw(const Subject& subject, const Pair& tables) {
    Case c = subject.place(tables);
    const Pair certain = flat(point(tables.p.at({}).size()), {});
    Cell cell(subject.registry(),
              {.vocab = static_cast<std::int32_t>(tables.p.at({}).size()),
               .target = law_of(certain.p),  // the rule then has nothing to decide
               .draft = law_of(tables.q),
               .drafter = c.drafter,
               .rule = {"accept_match"},
               .length = c.length,
               .on_draft = [this](const Proposal& p) { seen_.push_back(p.draft()); }});
    step::Scripted script;
    do {
      script.rewind();
      run_once(cell, script, c.tokens_left);
    } while (script.next());
  }
  // Of any node of a row: the distance of what is drawn from what is declared.
  double worst() const {
    double worst = 0;
    for (const auto& [condition, law] : laws_) {
      double all = 0, off = 0;
      for (const double w : law) all += w;
      for (std::size_t t = 0; t < law.size(); ++t)
        off += std::abs(law[t] / all - condition.second[t]);
      worst = std::max(worst, off / 2);
    }
    return worst;
  }
  std::size_t conditions() const { return laws_.size(); }
  bool drops() const { return drops_; }  // drew more tokens than it submitted

 private:
  static std::vector<float> point(std::size_t vocab) {
    std::vector<float> p(vocab);
    p[0] = 1;
    return p;
  }

  class Counting final : public step::Oracle {  // a drafter's draws
   public:
    explicit Counting(step::Scripted& script) : script_(script) {}
    bool flip(const step::Key& key, double prob) override { return script_.flip(key, prob); }
    Token pick(const step::Key& key, const Row& row) override {
      draws += key.stream == step::Stream::DRAFT ? 1 : 0;
      return script_.pick(key, row);
    }
    Token race(const step::Key& key, const Row& row) override { return script_.race(key, row); }
    int draws = 0;

   private:
    step::Scripted& script_;
  };

  void run_once(Cell& cell, step::Scripted& script, std::int32_t tokens_left) {
    seen_.clear();
    Counting oracle(script);
    step::Sequence s = cell.open({0}, 0, tokens_left);
    const step::Progress made = cell.run(s, oracle);
    if (!made.error.empty() || !made.bad_draft.empty()) throw Error(made.error + made.bad_draft);
    cell.step.forget(s);
    int sampled = 0;
    for (const Draft& draft : seen_) sampled += add(draft, script.weight());
    drops_ |= oracle.draws > sampled;
  }

  int add(const Draft& draft, double weight) {
    int sampled = 0;
    std::vector<std::int64_t> before;
    for (Node n = 1; n <= draft.size(); ++n) {
      const Draft::Item& item = draft.item(n);
      before.push_back(item.parent);
      if (item.law != redline::Law::DELTA && item.row) {
        sampled += item.law == redline::Law::ROW ? 1 : 0;
        const Row row = item.law == redline::Law::ROW ? draft.q(n) : *item.row;
        std::vector<double>& law = laws_[{before, row.to_dense()}];
        law.resize(draft.vocab());
        law[item.token] += weight;
      }
      before.push_back(item.token);
      before.push_back(static_cast<std::int64_t>(item.law));
    }
    return sampled;
  }

  std::vector<Draft> seen_;
  std::map<Condition, std::vector<double>> laws_;
  bool drops_ = false;
};

std::string hold_law(const Subject& s) {
  const DrafterContract contract = s.drafter_contract();
  if (contract.anticipates) return "anticipates, and says so: verified as given tokens";
  std::size_t conditions = 0;
  for (const Pair* tables : {&VA, &VB, &VC, &C1}) {
    const DraftLaw law(s, *tables);
    conditions += law.conditions();
    if (law.worst() < kRounding) continue;
    const std::string off = " by TV " + brief(law.worst());
    if (law.drops())
      throw Error(
          "anticipation: whether a sampled token is submitted depends on the token; its law "
          "is off the declared row" +
          off);
    throw Error("sampled law: tokens are not drawn from the declared row, off" + off);
  }
  return conditions == 0 ? "samples nothing by the host's draws"
                         : std::to_string(conditions) + " laws, each as declared";
}

std::string hold_ranks(const Subject& s, int texts) {
  if (s.drafter_contract().anticipates) return "anticipates, and says so";
  Uniforms ranks;
  std::uint32_t place = 0;
  CellSpec spec = s.place_in_text();
  spec.on_draft = [&](const Proposal& p) {
    ranks.begin();
    for (Node n = 1; n <= p.draft().size(); ++n) {
      if (p.draft().item(n).law != redline::Law::ROW) continue;
      const Row q = p.draft().q(n);
      double below = 0;
      for (Token t = 0; t < p.draft().token(n); ++t) below += q.at(t);
      const double u = (step::philox4x32({place++, 0, 0, 0}, 1)[0] + .5) * 0x1p-32;
      ranks.add(below + u * q.at(p.draft().token(n)));
    }
  };
  Cell cell(s.registry(), spec);
  for (int key = 1; key <= texts; ++key) write(cell, static_cast<std::uint64_t>(key), 40);
  if (ranks.samples() < kEnoughNodes) return "samples too few tokens to rank";
  const double p = chi_square_tail(ranks.chi_square(), Uniforms::kBins - 1);
  if (p < kSize)
    throw Error("sampled law: over texts, tokens are not drawn from the declared rows (p " +
                brief(p) + ")");
  const double sees =
      std::sqrt(detectable_noncentrality(Uniforms::kBins - 1, kSize, .99) / (4 * ranks.samples()));
  return brief(ranks.samples()) + " sampled tokens, p " + brief(p) + "; would have seen TV " +
         brief(sees);
}

// What a draft has that was not declared; empty when nothing.
std::string undeclared(const Proposal& p, const DrafterContract& said) {
  for (Node n = 1; n <= p.draft().size(); ++n) {
    const redline::Law law = p.draft().item(n).law;
    if (law == redline::Law::ROW && !said.emits.row) return "sampled nodes, none were declared";
    if (law == redline::Law::COUPLED && !said.emits.coupled)
      return "coupled nodes, none were declared";
  }
  if (said.shape == Shape::CHAIN && !p.draft().is_chain()) return "a tree, declared were chains";
  if (static_cast<std::int32_t>(p.auxiliary().size()) > said.needs.auxiliary_rows)
    return "more auxiliary rows than were declared";
  return "";
}

// What it drafts is what it said it would.
std::string hold_contract(const Subject& s) {
  const DrafterContract said = s.drafter_contract();
  int nodes = 0;
  std::string fault;  // told afterwards: what is thrown within a draft costs the draft alone
  CellSpec spec = s.place_in_text();
  spec.on_draft = [&](const Proposal& p) {
    nodes += p.draft().size();
    if (fault.empty()) fault = undeclared(p, said);
  };
  Cell cell(s.registry(), spec);
  try {
    for (const std::uint64_t key : {1, 2, 3}) write(cell, key, 40);
  } catch (const Error&) {
    if (fault.empty()) throw;  // else that was why
  }
  if (!fault.empty()) throw Error("contract: " + fault);
  return std::to_string(nodes) + " nodes as declared";
}

// What a graph supposes of the contract; its ops and weights run with --model alone.
std::string hold_module(const Subject& s) {
  const auto drafter = s.make<Drafter>();
  const auto taps = static_cast<int>(drafter->contract().needs.taps.size());
  const auto& heads = drafter.host->opened_heads();
  if (heads.empty()) return "opens none";
  std::string said;
  for (const auto& head : heads) {
    const int declared = head->declared().value_or(taps);
    if (head->taps() > declared)
      throw Error("module: hidden(" + std::to_string(head->taps() - 1) +
                  ") is asked for, the contract declares " + std::to_string(declared) + " taps");
    said += std::to_string(head->ops()) + " ops, " + std::to_string(head->heads()) + " heads; ";
  }
  return said + "rows are made up here: give --model to run graph and weights";
}

std::string hold_empty_batch(const Subject& s) {
  const auto drafter = s.make<Drafter>();
  drafter->propose({});
  drafter->observe({});
  return "nothing asked, nothing said";
}

}  // namespace

std::vector<Check> draft_checks(const Subject& s, Effort effort) {
  const int texts = effort == Effort::FULL ? 5000 : 200;
  return {{"empty batch", [&s] { return hold_empty_batch(s); }},
          {"drafting contract", [&s] { return hold_contract(s); }},
          {"module", [&s] { return hold_module(s); }},
          {"sampled law", [&s] { return hold_law(s); }},
          {"sampled law over texts", [&s, texts] { return hold_ranks(s, texts); }}};
}

}  // namespace redline::check
