// SPDX-License-Identifier: Apache-2.0
// One judge call of a rule at V = 151,936, drafts 8 deep, on one thread: of drafts drawn from q,
// of likely tokens that are all kept, and of unlikely ones that are all refused. Counters: per cent
// of a step of 30 ms, and how many a rule is meant to take at most.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "check/cost_scene.hpp"
#include "check/subject.hpp"

namespace redline::check {
namespace {

constexpr int kDrafts = 16, kMostNodes = 64, kDepth = 8;
constexpr double kStepSeconds = 30e-3;

enum class Course : std::uint8_t { DRAWN, KEPT, REFUSED };

// Does the work of a draw, and answers to order.
class OrderedDraws final : public PlainDraws {
 public:
  OrderedDraws(const Draft& draft, Course course) : draft_(draft), keeps_(course == Course::KEPT) {}

 private:
  bool do_bernoulli(Node, double) override { return keeps_; }
  Token do_sample(Node u, const Row& row) override { return go(u, PlainDraws::do_sample(u, row)); }
  Token do_gumbel_argmax(Node u, const Row& row) override {
    return go(u, PlainDraws::do_gumbel_argmax(u, row));
  }
  Token go(Node u, Token drawn) const {
    const Node c = draft_.first_child(u);
    return keeps_ && c != kNone ? draft_.token(c) : drawn;
  }
  const Draft& draft_;
  bool keeps_;
};

Token least_likely(const Row& row) {
  const std::vector<float> p = row.to_dense();
  return static_cast<Token>(std::ranges::min_element(p) - p.begin());
}

const CostRows& rows() {
  static const CostRows rows(kMostNodes);
  return rows;
}

std::vector<Draft> drafts(const AcceptanceRule& rule, const Widths& widths, Course course) {
  const redline::Law law = law_for(rule.contract());
  PlainDraws draws;
  std::vector<Draft> out;
  while (out.size() < (course == Course::DRAWN ? kDrafts : 1))
    out.push_back(course == Course::DRAWN ? drawn_draft(rows(), widths, law, draws)
                                          : draft_of(rows(), widths, law, [&](Node u) {
                                              const Row& p = rows().p[u];
                                              return course == Course::KEPT ? p.argmax()
                                                                            : least_likely(p);
                                            }));
  return out;
}

const plugin::Registry& registry() {
  static const plugin::Registry registry({}, {});
  return registry;
}

void judge(benchmark::State& state, const std::string& rule_name, const Widths& widths,
           Course course, double bar) {
  const Subject subject(registry(), registry().find(rule_name), {});
  const auto rule = subject.make<AcceptanceRule>(kCostVocab);
  const std::vector<Draft> all = drafts(*rule, widths, course);
  const std::span p(rows().p.data(), static_cast<std::size_t>(all.front().size()) + 1);
  PlainDraws chance;
  OrderedDraws order(all.front(), course);
  Draws& draws = course == Course::DRAWN ? static_cast<Draws&>(chance) : order;
  auto draft = all.begin();
  const std::clock_t begin = std::clock();
  for (auto _ : state) {
    benchmark::DoNotOptimize(rule->judge(*draft, p, draws));
    if (++draft == all.end()) draft = all.begin();
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  state.counters["%_of_step"] =
      100 * seconds / static_cast<double>(state.iterations()) / kStepSeconds;
  if (bar > 0) state.counters["bar"] = bar;
}

struct Drafted {
  const char* name;
  Widths widths;
  bool has_bar = true;
};

void add(const std::string& rule, double bar, const std::vector<Drafted>& shapes) {
  constexpr std::pair<Course, const char*> kCourses[] = {
      {Course::DRAWN, "drawn"}, {Course::KEPT, "kept"}, {Course::REFUSED, "refused"}};
  for (const Drafted& shape : shapes)
    for (const auto& [course, word] : kCourses)
      benchmark::RegisterBenchmark((rule + "/" + shape.name + "/" + word).c_str(), judge,
                                   "accept_" + rule, shape.widths, course, shape.has_bar ? bar : 0)
          ->Unit(benchmark::kMillisecond);
}

void register_rules() {
  const Drafted chain{"chain_8", chain_of(kDepth)};
  const Drafted small_tree{"tree_8", {2, 1, 1, 1}}, tree{"tree_64", {4, 3, 2, 1}, false};
  const Drafted two{"2_chains_8", {2, 1, 1, 1, 1, 1, 1, 1}};
  const Drafted four{"4_chains_8", {4, 1, 1, 1, 1, 1, 1, 1}};
  for (const char* rule : {"match", "delta", "ratio", "typical", "lenient", "top_delta",
                           "log_tolerance", "threshold", "entropy", "synthetic"})
    add(rule, 1, {chain});
  add("block", 3, {chain});
  for (const char* rule : {"multiround", "traversal"}) add(rule, 3, {chain, small_tree, tree});
  add("kseq", 5, {chain, two, four});
  add("gumbel", 12, {chain});
  add("ordered", 0, {{"4_siblings", {4}}, {"4_chains_8", four.widths}});
}

[[maybe_unused]] const bool registered = (register_rules(), true);

}  // namespace
}  // namespace redline::check
