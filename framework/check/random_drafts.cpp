// SPDX-License-Identifier: Apache-2.0
// Drafts of any shape that a budget allows: trees of up to 64 nodes where trees are taken, chains
// elsewhere; for a drafter, whose shapes are its own, budgets that differ from step to step.
#include <algorithm>
#include <numeric>

#include "check/apart.hpp"
#include "check/subject.hpp"
#include "check/texts.hpp"

namespace redline::check {
namespace {

constexpr int kMostNodes = 64;

class Dice {
 public:
  explicit Dice(std::uint32_t number) : number_(number) {}
  int below(int end) {
    return static_cast<int>(step::philox4x32({number_, at_++, 0, 0}, 1)[0] %
                            static_cast<std::uint32_t>(end));
  }

 private:
  std::uint32_t number_, at_ = 0;
};

std::string random_tree(std::uint32_t number) {
  std::string shape;
  Dice dice(number);
  for (int level = 0, width = 1, nodes = 0; level < 6 && width > 0; ++level) {
    int below = 0;
    std::string counts;
    for (int k = 0; k < width; ++k) {
      const int children =
          level == 0 ? 1 + dice.below(4) : std::min(dice.below(3), kMostNodes - nodes - below);
      below += children;
      counts.append(counts.empty() ? "" : ",").append(std::to_string(children));
    }
    if (below == 0) break;
    shape.append(shape.empty() ? "" : ";").append(counts);
    nodes += below;
    width = below;
  }
  return shape;
}

std::string random_chain(std::uint32_t number) {
  std::string shape = "1";
  for (int more = Dice(number).below(24); more > 0; --more) shape += ";1";
  return shape;
}

std::string hold_random_drafts(const Subject& s, std::uint32_t drafts, bool is_chain) {
  static constexpr const char* kMethods[] = {"iid", "new", "top", "greedy"};
  int nodes = 0;
  std::string refused;
  for (std::uint32_t k = 0; k < drafts; ++k) {
    const std::string shape = is_chain ? random_chain(k) : random_tree(k);
    CellSpec spec = s.place_in_text();
    if (s.listing().kind != Kind::RULE) spec.rule = {"accept_multiround"};
    spec.drafter = {"draft_tree",
                    {{"model", "draft"}, {"shape", shape}, {"method", kMethods[k % 4]}}};
    if (s.listing().kind != Kind::LENGTH)
      spec.length = {"length_fixed", {{"max_depth", "64"}, {"max_nodes", "64"}}};
    Cell cell(s.registry(), spec);
    try {
      const Written w = write(cell, k, 3);
      nodes += std::accumulate(w.drafted.begin(), w.drafted.end(), 0);
    } catch (const PluginError& fault) {
      refused = refusal(fault, s.listing().name);
      if (refused.empty()) throw;
    }
  }
  if (nodes == 0 && !refused.empty()) throw Refusal(refused);
  return std::to_string(drafts) + " shapes, " + std::to_string(nodes) + " nodes" +
         (refused.empty() ? "" : "; refuses some: " + refused);
}

// length_replay of no trace answers with budgets that differ by request and step.
std::string hold_random_budgets(const Subject& s, std::uint32_t texts) {
  CellSpec spec = s.place_in_text();
  spec.length = {"length_replay"};
  Cell cell(s.registry(), spec);
  int steps = 0, nodes = 0;
  for (std::uint32_t key = 1; key <= texts; ++key) {
    const Written w = write(cell, key % 32, 40);
    steps += static_cast<int>(w.drafted.size());
    nodes += std::accumulate(w.drafted.begin(), w.drafted.end(), 0);
  }
  return std::to_string(nodes) + " nodes in " + std::to_string(steps) + " steps of any budget";
}

}  // namespace

std::vector<Check> random_draft_checks(const Subject& s, Effort effort) {
  const std::uint32_t drafts = effort == Effort::FULL ? 100 : 8;
  if (s.listing().kind == Kind::DRAFTER)
    return {{"random budgets", [&s, drafts] { return hold_random_budgets(s, drafts); }}};
  const bool is_chain = s.listing().kind == Kind::RULE && s.rule_contract().shape == Shape::CHAIN;
  return {{is_chain ? "random chains" : "random trees",
           [&s, drafts, is_chain] { return hold_random_drafts(s, drafts, is_chain); }}};
}

}  // namespace redline::check
