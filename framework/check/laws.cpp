// SPDX-License-Identifier: Apache-2.0
// Every outcome of a step with the plugin in it: whether the joint law of D+1 tokens is plain
// decoding's, and how many tokens are kept. The quick suite and the full one go over the same
// shapes; they differ in how many random contexts they take.
#include "check/subject.hpp"
#include "check/survey.hpp"
#include "check/vectors.hpp"

namespace redline::check {
namespace {

const Shapes kChains{"1", "1;1", "1;1;1"};
const Shapes kSiblings{"2", "3"};
const Shapes kTrees{"2;1,1", "2;2,1", "2;2,0", "3;1,0,0"};

class Plan {
 public:
  Plan(const Subject& subject, Effort effort)
      : s_(subject), contexts_(effort == Effort::FULL ? 200 : 6) {}

  std::vector<Check> of_rule(bool is_chain) {
    chains(is_chain);
    paths({"1;1"});
    over("law of two steps", "iid", is_chain ? Shapes{"1", "1;1"} : Shapes{"1", "1;1", "2"},
         of_three(), two_steps);
    random("law of random chains", "iid", kChains);
    random("law of random given tokens", "top", is_chain ? kChains : kTrees);
    mixed("law of random mixed chains", kChains);
    if (!is_chain) trees();
    return std::move(checks_);
  }

  // Of a drafter, which makes its own shapes, or of a link or policy in a chain and in a tree.
  std::vector<Check> of_partner(const Shapes& shapes) {
    over("law", "iid", shapes, published_vectors());
    over("law at the edges", "iid", shapes, edge_vectors());
    over("law of two steps", "iid", {"1;1"}, {{"C1", C1}}, two_steps);
    random("law of random contexts", "iid", shapes);
    return std::move(checks_);
  }

 private:
  static Vectors of_three() { return {{"VA", VA}, {"C1", C1}}; }  // V = 3: more explodes
  static void two_steps(Case& c) { c.steps = 2; }

  void chains(bool is_chain) {
    over("law of chains", "iid", kChains, published_vectors());
    over("law of given tokens", "top", {"1;1", is_chain ? "1" : "2;1,1"}, published_vectors());
    over("law at the edges", "iid", {"1;1", is_chain ? "1" : "2"}, edge_vectors());
  }
  void trees() {
    over("law of an exhausted draft", "new", kSiblings, edge_vectors());
    over("law of siblings, i.i.d.", "iid", kSiblings, published_vectors());
    over("law of siblings, new", "new", kSiblings, published_vectors());
    over("law of trees, i.i.d.", "iid", {"2;1,1"}, published_vectors());
    over("law of trees, new", "new", kTrees, published_vectors());
    over("law of mixed laws", "greedy", {"2", "3", "2;1,1"}, published_vectors());
    random("law of random siblings, i.i.d.", "iid", kSiblings);
    random("law of random siblings, new", "new", kSiblings);
    random("law of random trees, i.i.d.", "iid", kTrees);
    random("law of random trees, new", "new", kTrees);
    random("law of random trees, greedy pair", "greedy", kTrees);
    mixed("law of random mixed siblings", kSiblings);
    mixed("law of random mixed trees", kTrees);
  }
  // Masks and penalties, which follow the path.
  void paths(const Shapes& shapes) {
    const Choice ban{"sample_bias", {{"ban", "2"}}};
    const Choice penalty{"sample_penalty", {{"repetition", "1.7"}}};
    over("law of a masked path", "iid", shapes, of_three(),
         [ban](Case& c) { c.links.push_back(ban); });
    over("law of a penalised path", "iid", shapes, of_three(),
         [penalty](Case& c) { c.links.push_back(penalty); });
    over("law of a path both models penalise", "iid", shapes, of_three(), [penalty](Case& c) {
      c.links.push_back(penalty);
      c.links_on_draft = true;
    });
  }

  void over(const char* name, const char* method, Shapes shapes, Vectors vectors,
            Survey::Change change = {}) {
    checks_.push_back({name, [&s = s_, method, shapes = std::move(shapes),
                              vectors = std::move(vectors), change = std::move(change)] {
                         return Survey(s, method).over(vectors, shapes, change);
                       }});
  }
  void random(const char* name, const char* method, const Shapes& shapes) {
    checks_.push_back({name, [&s = s_, method, shapes, contexts = contexts_] {
                         return Survey(s, method).over_random(contexts, shapes);
                       }});
  }
  void mixed(const char* name, const Shapes& shapes) {
    checks_.push_back({name, [&s = s_, shapes, contexts = contexts_] {
                         return Survey(s, "iid").over_mixed(contexts, shapes);
                       }});
  }

  const Subject& s_;
  int contexts_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> law_checks(const Subject& s, Effort effort) {
  if (s.listing().kind == Kind::DRAFTER) return Plan(s, effort).of_partner({"1;1"});
  if (s.listing().kind != Kind::RULE) return Plan(s, effort).of_partner({"1;1", "2;1,1"});
  std::vector<Check> all = Plan(s, effort).of_rule(s.rule_contract().shape == Shape::CHAIN);
  if (!s.is_lossless())
    for (Check& check : tv_checks(s)) all.push_back(std::move(check));
  return all;
}

}  // namespace redline::check
