// SPDX-License-Identifier: Apache-2.0
#include "redline/proposal.hpp"

#include <algorithm>

namespace redline {
inline namespace v1 {

bool Sequence::stops_at(Token token) const {
  return std::find(stop_tokens.begin(), stop_tokens.end(), token) != stop_tokens.end();
}

Proposal::Proposal(Turn turn, Limit limit, Draws& draws)
    : turn_(turn),
      limit_(limit),
      draws_(draws),
      draft_(turn.sequence.vocab),
      answers_(1, Answer::NOT_ASKED) {}

bool Proposal::has_room(Node parent) const {
  if (parent < 0 || parent > draft_.size())
    throw Error("proposal: node " + std::to_string(parent) + " is not among the " +
                std::to_string(draft_.size()) + " of this draft");
  return draft_.size() < budget().max_nodes && draft_.depth(parent) < budget().max_depth &&
         answers_[parent] != Answer::NO &&
         (parent == kRoot || !sequence().stops_at(draft_.token(parent)));
}
bool Proposal::open(Node parent, const Row* q) {
  if (!has_room(parent)) return false;
  Answer& answer = answers_[parent];
  if (answer == Answer::NOT_ASKED && q) {
    const Turn asked{sequence(), limit_.state};
    answer = limit_.policy.proceed(asked, draft_.depth(parent), *q) ? Answer::YES : Answer::NO;
    asked_.push_back({parent, answer == Answer::YES});
  }
  return answer != Answer::NO;
}

Node Proposal::append(Draft::Item item) {
  if (!open(item.parent, item.row ? &*item.row : nullptr)) return kNone;
  const Node n = draft_.append(std::move(item));
  answers_.push_back(Answer::NOT_ASKED);
  return n;
}
Node Proposal::sample(Node parent, const Row& q) {
  if (!open(parent, &q)) return kNone;
  return append({parent, draws_.categorical(parent, q), Law::ROW, q});
}
Node Proposal::sample_new(Node parent, const Row& q) {
  if (!open(parent, &q)) return kNone;
  List<Token> used;
  for (Node s = draft_.first_child(parent); s != kNone; s = draft_.next_sibling(s))
    used.push_back(draft_.token(s));
  return append(
      {parent, draws_.categorical(parent, q.without(used)), Law::ROW, q, EXCLUDE_EARLIER_SIBLINGS});
}
Node Proposal::couple(Node parent, const Row& q) {
  if (!open(parent, &q)) return kNone;
  return append({parent, draws_.gumbel_argmax(parent, q), Law::COUPLED, q});
}
Node Proposal::add(Node parent, Token token) {
  const Node twin = draft_.child(parent, token);
  return twin != kNone ? twin : append({parent, token});
}
Node Proposal::add(Node parent, Token token, const Row& q) {
  const Node twin = draft_.child(parent, token);
  return twin != kNone ? twin : append({parent, token, Law::DELTA, q});
}
int Proposal::look(Auxiliary row) {
  auxiliary_.push_back(std::move(row));
  return static_cast<int>(auxiliary_.size()) - 1;
}

}  // namespace v1
}  // namespace redline
