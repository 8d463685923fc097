// SPDX-License-Identifier: Apache-2.0
// Every outcome of a step with the plugin in it: whether the joint law of D+1 tokens is plain
// decoding's, and how many tokens are kept.
#include <cmath>
#include <exception>
#include <sstream>

#include "check/apart.hpp"
#include "check/named.hpp"
#include "check/random_laws.hpp"
#include "check/subject.hpp"
#include "check/vectors.hpp"

namespace redline::check {
namespace {

constexpr double kExact = 1e-9, kForetold = 1e-6;  // what a rule foretells is stored as float32

using Vectors = std::vector<Named>;

const Vectors& published() {
  static const Vectors all{{"VA", VA}, {"VB", VB}, {"VC", VC}, {"V2", V2}, {"C1", C1}};
  return all;
}

// What rounding and zeros like to break: p = q, disjoint supports, point masses, a draft whose
// support two siblings exhaust.
const Vectors& edges() {
  static const Vectors all{{"p = q", VP},
                           {"disjoint", VD},
                           {"point p", flat({0, 1, 0}, {.2, .3, .5})},
                           {"point q", flat({.2, .3, .5}, {0, 1, 0})},
                           {"same point", flat({0, 1, 0}, {0, 1, 0})},
                           {"exhausted", flat({.2, .3, .5}, {.5, .5, 0})}};
  return all;
}

std::string brief(double x) {
  std::ostringstream out;
  out.precision(6);
  out << x;
  return out.str();
}

// What a finding violates, by name; empty when nothing.
std::string violation(const Finding& f, bool is_lossless) {
  if (is_lossless && f.first_tv > kExact) return "first-token law: off by TV " + brief(f.first_tv);
  if (is_lossless && f.joint_tv > kExact)
    return "joint law: off by TV " + brief(f.joint_tv) + ", the first token hides it";
  if (!std::isnan(f.expected) && std::abs(f.expected - f.accepted) > kForetold)
    return "expected_accepted: foretells " + brief(f.expected) + ", keeps " + brief(f.accepted);
  return "";
}

// Kept tokens of each vector and shape; a draft that the rule refuses is left out, with its reason.
class Survey {
 public:
  Survey(const Subject& subject, std::string method)
      : subject_(subject), method_(std::move(method)), is_lossless_(subject.is_lossless()) {}

  // `change` makes of each case another: links, budgets, steps.
  using Change = std::function<void(Case&)>;
  std::string over(
      const Vectors& vectors, const std::vector<std::string>& shapes,
      const Change& change = [](Case&) {}) {
    for (const Named& v : vectors) {
      said_ += (said_.empty() ? "" : "; ") + v.name;
      for (const std::string& shape : shapes) add(v, shape, change);
    }
    return "keeps " + said_ + closing();
  }
  // The same over random contexts, of which only the number is told.
  std::string over_random(int contexts, const std::vector<std::string>& shapes) {
    for (int k = 0; k < contexts; ++k) {
      const Pair tables = random_pair(static_cast<std::uint32_t>(k));
      const Named v{"random context " + std::to_string(k), tables};
      for (const std::string& shape : shapes) add(v, shape, [](Case&) {});
    }
    return std::to_string(contexts) + " contexts, " + std::to_string(shapes.size()) + " shapes, " +
           std::to_string(runs_) + " outcomes" + closing();
  }

 private:
  std::string closing() const {
    if (held_ == 0) throw Refusal(refusal_);
    const std::string tv =
        is_lossless_ ? "" : "; TV up to " + brief(worst_tv_ > kExact ? worst_tv_ : 0);
    return tv + (refusal_.empty() ? "" : "; refuses some: " + refusal_);
  }

  void add(const Named& v, const std::string& shape, const Change& change) {
    Finding f;
    try {
      Case c = subject_.place(v.tables, shape, method_);
      change(c);
      f = enumerate(subject_.registry(), c);
    } catch (const PluginError& fault) {
      refusal_ = refusal(fault, subject_.listing().name);
      if (refusal_.empty()) throw;
      said_ += " -";
      return;
    }
    ++held_;
    runs_ += f.runs;
    worst_tv_ = std::max(worst_tv_, f.joint_tv);
    said_ += ' ' + brief(f.accepted);
    if (const std::string wrong = violation(f, is_lossless_); !wrong.empty())
      throw Error(wrong + " (" + v.name + ", shape " + shape + ")");
  }

  const Subject& subject_;
  std::string method_, said_, refusal_;
  bool is_lossless_;
  int held_ = 0;
  long runs_ = 0;
  double worst_tv_ = 0;
};

// What an approximate rule tells of itself against the law it emits: one node, given tokens, and
// siblings where it tells of them.
std::string hold_told_tv(const Subject& s) {
  const bool is_chain = s.rule_contract().shape == Shape::CHAIN;
  int told = 0, untold = 0;
  double most = 0;
  for (const Vectors* vectors : {&published(), &edges()})
    for (const Named& v : *vectors)
      for (const char* method : {"iid", "top", "greedy"})
        for (const char* shape : {"1", "1;1", "2", "2;1,1"}) {
          if (is_chain && shape[0] != '1') continue;
          Case c = s.place(v.tables, shape, method);
          c.traces_nodes = true;
          const Finding f = enumerate(s.registry(), c);
          std::isnan(f.told_tv) ? ++untold : ++told;
          most = std::max(most, f.first_tv);
          if (std::abs(f.told_tv - f.first_tv) > kForetold)
            throw Error("tv: tells " + brief(f.told_tv) + ", emits a law that is off by " +
                        brief(f.first_tv) + " (" + v.name + ", " + method + ", shape " + shape +
                        ")");
        }
  if (told == 0) return "tells no TV of a node: override do_tv, and traces hold how lossy each was";
  return "as told of " + std::to_string(told) + " drafts, up to " + brief(most) +
         (untold > 0 ? "; not told of " + std::to_string(untold) : "");
}

// Names of checks and what they go over; `full` adds minutes of random contexts.
class Plan {
 public:
  explicit Plan(const Subject& subject) : s_(subject) {}

  std::vector<Check> quick(bool is_chain) {
    over("law of chains", "iid", {"1", "1;1", "1;1;1"}, published());
    over("law of given tokens", "top", {"1;1", is_chain ? "1" : "2;1,1"}, published());
    over("law at the edges", "iid", {"1;1", is_chain ? "1" : "2"}, edges());
    over("law of two steps", "iid", {"1"}, {{"VB", VB}, {"C1", C1}}, [](Case& c) { c.steps = 2; });
    if (is_chain) return std::move(checks_);
    over("law of siblings, i.i.d.", "iid", {"2", "3"}, published());
    over("law of siblings, new", "new", {"2", "3"}, published());
    over("law of trees, i.i.d.", "iid", {"2;1,1"}, published());
    over("law of trees, new", "new", {"2;1,1"}, published());
    over("law of mixed laws", "greedy", {"2", "3", "2;1,1"}, published());
    return std::move(checks_);
  }

  std::vector<Check> full(bool is_chain) {
    const Vectors v3{{"VA", VA}, {"C1", C1}};
    over("law of a masked path", "iid", {"1;1"}, v3,
         [](Case& c) { c.links.push_back({"sample_bias", {{"ban", "2"}}}); });
    over("law of a penalised path", "iid", {"1;1"}, v3,
         [](Case& c) { c.links.push_back({"sample_penalty", {{"repetition", "1.7"}}}); });
    over("law of a path both models penalise", "iid", {"1;1"}, v3, [](Case& c) {
      c.links.push_back({"sample_penalty", {{"repetition", "1.7"}}});
      c.links_on_draft = true;
    });
    over("law of two steps of chains", "iid", {"1", "1;1"}, v3, [](Case& c) { c.steps = 2; });
    random("random chains", "iid", {"1", "1;1", "1;1;1"});
    random("random given tokens", "top", is_chain ? kChains : kTrees);
    if (is_chain) return std::move(checks_);
    over("law of two steps of siblings", "iid", {"2"}, v3, [](Case& c) { c.steps = 2; });
    random("random siblings, i.i.d.", "iid", {"2", "3"});
    random("random siblings, new", "new", {"2", "3"});
    random("random trees, i.i.d.", "iid", kTrees);
    random("random trees, new", "new", kTrees);
    random("random trees, mixed laws", "greedy", kTrees);
    return std::move(checks_);
  }

 private:
  using Shapes = std::vector<std::string>;
  inline static const Shapes kChains{"1", "1;1"};
  inline static const Shapes kTrees{"2;1,1", "2;2,1", "2;2,0", "3;1,0,0"};
  static constexpr int kContexts = 200;

  void over(
      const char* name, const char* method, Shapes shapes, Vectors vectors,
      Survey::Change change = [](Case&) {}) {
    checks_.push_back({name, [&s = s_, method, shapes = std::move(shapes),
                              vectors = std::move(vectors), change = std::move(change)] {
                         return Survey(s, method).over(vectors, shapes, change);
                       }});
  }
  void random(const char* name, const char* method, Shapes shapes) {
    checks_.push_back({name, [&s = s_, method, shapes = std::move(shapes)] {
                         return Survey(s, method).over_random(kContexts, shapes);
                       }});
  }
  const Subject& s_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> law_checks(const Subject& s, Effort effort) {
  if (s.listing().kind != Kind::RULE) {
    std::vector<Check> all{
        {"law", [&s] { return Survey(s, "iid").over(published(), {"1;1"}); }},
        {"law at the edges", [&s] { return Survey(s, "iid").over(edges(), {"1;1"}); }}};
    if (effort == Effort::FULL)
      all.push_back(
          {"random contexts", [&s] { return Survey(s, "iid").over_random(200, {"1;1"}); }});
    return all;
  }
  const bool is_chain = s.rule_contract().shape == Shape::CHAIN;
  std::vector<Check> all = Plan(s).quick(is_chain);
  if (!s.is_lossless()) all.push_back({"tv", [&s] { return hold_told_tv(s); }});
  if (effort == Effort::FULL)
    for (Check& check : Plan(s).full(is_chain)) all.push_back(std::move(check));
  return all;
}

}  // namespace redline::check
