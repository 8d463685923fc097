// SPDX-License-Identifier: Apache-2.0
// One sequence's draft in the making. The host draws each sampled token and writes its law down, so
// the stored row is the sampled row and the length policy is asked before the token exists.
#pragma once
#include "redline/draft_length.hpp"
#include "redline/draws.hpp"

namespace redline {
inline namespace v1 {

class REDLINE_API Proposal {  // [engine thread]
 public:
  struct Auxiliary {  // a row that rides along: its KV is dropped, its row comes back in observe
    Token token;
    int offset;             // from the root's position
    std::vector<int> sees;  // earlier auxiliary rows, by index
  };
  Proposal(Turn turn, Limit limit, Draws& draws);

  const Sequence& sequence() const { return turn_.sequence; }
  const Draft& draft() const { return draft_; }
  Budget budget() const { return limit_.budget; }
  template <class T>
  T& state() const {
    return turn_.as<T>();
  }
  // Whether a child of `parent` may still be added: budget, depth, the policy's word so far, and no
  // stop token there. Ask it before computing a row nobody will use.
  bool has_room(Node parent) const;

  // Each returns the new node, or kNone: no room, or the policy stopped below this parent.
  Node sample(Node parent, const Row& q);            // i.i.d. siblings
  Node sample_new(Node parent, const Row& q);        // siblings without replacement
  Node couple(Node parent, const Row& q);            // argmax under the position's shared noise
  Node add(Node parent, Token token);                // deterministic; a twin is merged
  Node add(Node parent, Token token, const Row& q);  // likewise, and the policy sees q
  int look(Auxiliary row);                           // its index in Outcome::auxiliary

  // The raw door, for drafts that were drawn elsewhere (cascades): the author vouches for the law.
  Node append(Draft::Item item);
  Draws& draws() { return draws_; }

  // What the length policy said, in the order it was asked.
  struct Asked {
    Node parent;
    bool may_grow;
  };
  const List<Asked>& asked() const { return asked_; }
  const List<Auxiliary>& auxiliary() const { return auxiliary_; }

 private:
  enum class Answer : std::uint8_t { NO, YES, NOT_ASKED };
  bool open(Node parent, const Row* q);
  Turn turn_;
  Limit limit_;
  Draws& draws_;
  Draft draft_;
  List<Answer> answers_;  // [m+1] the policy's word on each parent, asked once
  List<Asked> asked_;
  List<Auxiliary> auxiliary_;
};

}  // namespace v1
}  // namespace redline
