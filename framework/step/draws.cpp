// SPDX-License-Identifier: Apache-2.0
#include "step/draws.hpp"

#include <algorithm>

namespace redline::step {
namespace {

constexpr Node kNodes = 1 << 16;
constexpr std::int32_t kDraws = 1 << 12;
constexpr double kSameRow = 1e-12;  // total variation below which two rows are one

enum DecisionKind : std::uint8_t { BERNOULLI, CATEGORICAL, SAMPLE, GUMBEL_ARGMAX };

}  // namespace

void LoggedDraws::propose_for(const Draft& draft) { phase_ = Phase::DRAFT, draft_ = &draft; }

void LoggedDraws::close_draft(const Draft& draft) {
  for (const auto& [drawn, count] : counts_) {
    if (drawn.first != Stream::GUMBEL) continue;
    int rows = 0;  // a child declared ROW must have a draw of its own
    for (Node c = draft.first_child(drawn.second); c != kNone; c = draft.next_sibling(c))
      rows += draft.item(c).law == Law::ROW;
    const auto own = counts_.find({Stream::DRAFT, drawn.second});
    if (rows > (own == counts_.end() ? 0 : own->second))
      refuse("the shared noise of a position drew a node declared ROW; declare it COUPLED",
             at_.root_position + draft.depth(drawn.second) + 1);
  }
}

void LoggedDraws::judge(const Draft& draft, std::span<const Row> p) {
  phase_ = Phase::JUDGE, draft_ = &draft, p_ = p;
  judged_from_ = decisions_.size();
}

Key LoggedDraws::key(Stream stream, Node node) {
  // An accept test decides about the node itself, every other draw about the token after it.
  const std::int64_t position =
      at_.root_position + draft_->depth(node) + (stream == Stream::ACCEPT ? 0 : 1);
  const std::int32_t draw = counts_[{stream, node}]++;
  last_by_position_ = stream == Stream::TARGET || stream == Stream::GUMBEL;
  if (last_by_position_) return {at_.seed, at_.request, stream, position, 0, 0, 0};
  if (node >= kNodes || draw >= kDraws)
    refuse("draw " + std::to_string(draw) + " at node " + std::to_string(node) +
               " has no key; a step has keys for 65536 nodes of 4096 draws each",
           position);
  return {at_.seed, at_.request, stream, position, at_.step, node, draw};
}

void LoggedDraws::hold_to_p(Stream stream, Node node, const Row& asked) {
  const std::int64_t position = at_.root_position + draft_->depth(node) + 1;
  const Row& p = p_[static_cast<std::size_t>(node)];
  if (!asked.same_as(p) && asked.mass(p) > kSameRow)
    refuse(
        "a rule put the noise that decides a token to a row that is not p there; use categorical "
        "for residuals",
        position);
  const std::pair used{stream, position};
  if (std::find(judged_.begin(), judged_.end(), used) != judged_.end())
    refuse("a rule drew one key twice", position);
  judged_.push_back(used);
}

bool LoggedDraws::do_bernoulli(Node node, double prob) {
  const Key k = key(Stream::ACCEPT, node);
  const bool yes = oracle_.flip(k, prob);
  note(BERNOULLI, k, node, yes ? prob : 1 - prob, yes);
  return yes;
}

Token LoggedDraws::do_categorical(Node node, const Row& row) {
  const Key k = key(phase_ == Phase::DRAFT ? Stream::DRAFT : Stream::RESIDUAL, node);
  const Token token = oracle_.pick(k, row);
  if (log_) note(CATEGORICAL, k, node, row.at(token), static_cast<std::uint32_t>(token));
  return token;
}

Token LoggedDraws::do_sample(Node node, const Row& row) {
  const Key k = key(Stream::TARGET, node);
  if (phase_ == Phase::DRAFT)
    refuse("a drafter drew the noise that decides the target's token; use categorical", k.position);
  hold_to_p(Stream::TARGET, node, row);
  const Token token = oracle_.pick(k, row);
  if (log_) note(SAMPLE, k, node, row.at(token), static_cast<std::uint32_t>(token));
  return token;
}

Token LoggedDraws::do_gumbel_argmax(Node node, const Row& row) {
  const Key k = key(Stream::GUMBEL, node);
  if (phase_ == Phase::JUDGE) hold_to_p(Stream::GUMBEL, node, row);
  const Token token = oracle_.race(k, row);
  if (log_) note(GUMBEL_ARGMAX, k, node, row.at(token), static_cast<std::uint32_t>(token));
  return token;
}

void LoggedDraws::note(std::uint8_t kind, const Key& key, Node node, double prob,
                       std::uint32_t outcome) {
  if (!log_) return;
  decisions_.push_back({static_cast<std::uint16_t>(decisions_.size()), kind,
                        static_cast<std::uint8_t>(key.stream), node, prob, outcome});
}

void LoggedDraws::hold_to_laws(const Plugin& who) const {
  if (!fault_.empty()) throw PluginError(who.name() + ": " + fault_);
}

void LoggedDraws::refuse(const std::string& what, std::int64_t position) {
  fault_ = what + " (position " + std::to_string(position) + ")";
  throw PluginError(fault_);
}

}  // namespace redline::step
