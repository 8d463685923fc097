// SPDX-License-Identifier: Apache-2.0
#include "trace/invariants.hpp"

#include <algorithm>

#include "redline/error.hpp"

namespace redline::trace {
namespace {

[[noreturn]] void refuse(const StepRecord& step, const std::string& what) {
  throw Error("trace: request " + std::to_string(step.request_key) + ", step " +
              std::to_string(step.seq_step) + ": " + what + "; the engine's counts disagree");
}

void require_at_most(const StepRecord& step, const char* less_name, std::uint64_t less,
                     const char* more_name, std::uint64_t more) {
  if (less > more)
    refuse(step, std::string(less_name) + " " + std::to_string(less) + " exceeds " + more_name +
                     " " + std::to_string(more));
}

void require_nodes(const StepRecord& step) {
  // A step that failed may name its draft without its nodes.
  if (step.nodes.empty() && step.committed == 0) return;
  if (step.nodes.size() != step.n_nodes)
    refuse(step, "n_nodes " + std::to_string(step.n_nodes) + " but " +
                     std::to_string(step.nodes.size()) + " node records");
  int accepted = 0;
  for (std::size_t i = 0; i < step.nodes.size(); ++i) {
    const int node = static_cast<int>(i) + 1, parent = step.nodes[i].parent;
    if (parent < 0 || parent >= node)
      refuse(step, "node " + std::to_string(node) + " has parent " + std::to_string(parent) +
                       ", which does not precede it");
    const int above = parent == 0 ? 0 : step.nodes[parent - 1].depth;
    if (step.nodes[i].depth != above + 1)
      refuse(step, "node " + std::to_string(node) + " has depth " +
                       std::to_string(step.nodes[i].depth) + " below a parent of depth " +
                       std::to_string(above));
    accepted += step.nodes[i].state == NodeState::ACCEPTED;
  }
  if (accepted != step.accepted_by_rule)
    refuse(step, "accepted_by_rule " + std::to_string(step.accepted_by_rule) + " but " +
                     std::to_string(accepted) + " nodes accepted");
}

void require_rows(const StepRecord& step, const List<LogitsRecord>& rows, const Layout& layout) {
  for (const LogitsRecord& row : rows) {
    if (row.node < 0 || row.node > step.n_nodes)
      refuse(step, "a logits row of node " + std::to_string(row.node) + " among " +
                       std::to_string(step.n_nodes));
    if (row.topk_ids.size() != row.topk_values.size())
      refuse(step, std::to_string(row.topk_ids.size()) + " top-k ids but " +
                       std::to_string(row.topk_values.size()) + " values");
    if (!row.full.empty() && row.full.size() != static_cast<std::size_t>(layout.vocab))
      refuse(step, "a full row of " + std::to_string(row.full.size()) +
                       " logits in a vocabulary of " + std::to_string(layout.vocab));
  }
}

}  // namespace

void require_sound(const StepRecord& step, const Layout& layout) {
  require_at_most(step, "max_depth", step.max_depth, "n_nodes", step.n_nodes);
  require_at_most(step, "accepted_by_rule", step.accepted_by_rule, "drafted", step.drafted);
  require_at_most(step, "emitted", step.emitted, "committed", step.committed);
  if (step.budget_nodes != StepRecord::kNoBudget) {
    require_at_most(step, "n_nodes", step.n_nodes, "budget_nodes", step.budget_nodes);
    require_at_most(step, "max_depth", step.max_depth, "budget_depth", step.budget_depth);
  }
  for (const AnswerRecord& answer : step.answers)
    require_at_most(step, "depth of an answer and one", answer.depth + 1, "budget_depth",
                    step.budget_depth);
  if (layout.level == Level::COUNTS) return;
  require_nodes(step);
  require_rows(step, step.target_rows, layout);
  require_rows(step, step.draft_rows, layout);
  for (const DecisionRecord& decision : step.decisions)
    if (decision.node < 0 || decision.node > step.n_nodes)
      refuse(step, "a decision at node " + std::to_string(decision.node) + " among " +
                       std::to_string(step.n_nodes));
}

void require_sound(const RequestRecord& request) {
  const auto require = [&](const char* name, std::size_t count, std::size_t listed) {
    if (count != listed)
      throw Error("trace: request " + std::to_string(request.request_key) + ": " + name + " " +
                  std::to_string(count) + " but " + std::to_string(listed) + " tokens listed");
  };
  require("n_output", request.n_output, request.output_tokens.size());
  require("n_prompt", request.n_prompt, request.prompt_tokens.size());
}

}  // namespace redline::trace
