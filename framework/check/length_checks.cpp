// SPDX-License-Identifier: Apache-2.0
// What a length policy owes: budgets that follow from what it says it reads, and from nothing else.
#include <sstream>
#include <thread>

#include "check/subject.hpp"
#include "check/texts.hpp"

namespace redline::check {
namespace {

constexpr int kSteps = 15;

// The budgets each sequence was given, step by step.
using Budgets = std::map<std::uint64_t, std::vector<std::pair<int, int>>>;

Budgets budgets_of(const Subject& s, const std::vector<std::uint64_t>& keys,
                   const std::function<void()>& between = {}) {
  Budgets seen;
  CellSpec spec = s.place_in_text();
  spec.on_draft = [&seen](const Proposal& p) {
    seen[p.sequence().id].emplace_back(p.budget().max_nodes, p.budget().max_depth);
  };
  Cell cell(s.registry(), spec);
  write_together(cell, keys, kSteps, between);
  return seen;
}

std::string hold_reads(const Subject& s) {
  const Reads reads = s.reads();
  if (reads == Reads::CLOCK) return "reads the clock: a run with it cannot be made again";
  const std::vector<std::uint64_t> three{1, 2, 3};
  const Budgets once = budgets_of(s, three);
  const auto slowly = [] { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
  if (budgets_of(s, three, slowly) != once)
    throw Error("reads: budgets change with the clock, declared is that none is read");
  if (reads == Reads::BATCH) return "reads the batch, not the clock";
  for (const std::uint64_t key : three)
    if (budgets_of(s, {key}).begin()->second != once.at(key))
      throw Error("reads: budgets change with the batch, declared is history alone");
  return "reads the history alone";
}

std::string hold_empty_batch(const Subject& s) {
  const auto policy = s.make<DraftLength>();
  if (!policy->choose({}).empty()) throw Error("empty batch: budgets for no sequence");
  policy->observe({});
  return "nothing asked, nothing said";
}

std::string hold_budgets(const Subject& s) {
  int deepest = 0, most = 0, steps = 0;
  for (const auto& [id, budgets] : budgets_of(s, {1, 2, 3}))
    for (const auto& [nodes, depth] : budgets) {
      ++steps;
      deepest = std::max(deepest, depth);
      most = std::max(most, nodes);
    }
  return std::to_string(steps) + " drafting steps, up to " + std::to_string(most) +
         " nodes, depth " + std::to_string(deepest);
}

}  // namespace

std::vector<Check> length_checks(const Subject& s) {
  return {{"empty batch", [&s] { return hold_empty_batch(s); }},
          {"budgets", [&s] { return hold_budgets(s); }},
          {"reads", [&s] { return hold_reads(s); }}};
}

}  // namespace redline::check
