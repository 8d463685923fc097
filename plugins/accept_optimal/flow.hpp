// SPDX-License-Identifier: Apache-2.0
// A maximum flow from sets of tokens to their tokens, in float64. Whatever stops it early, what it
// holds is a flow; only its size suffers.
#pragma once
#include <algorithm>
#include <deque>
#include <limits>
#include <vector>

#include "redline/types.hpp"

namespace {

class Flow {
 public:
  using Token = redline::Token;
  explicit Flow(std::vector<double> room) : room_(std::move(room)), holders_(room_.size()) {}

  void add(const std::vector<Token>& tokens, double supply) {
    for (const Token t : tokens) holders_[t].push_back(sets_.size());
    sets_.push_back({tokens, std::vector<double>(tokens.size(), 0.0), supply});
  }
  void fill() {
    for (std::size_t s = 0; s < sets_.size(); ++s)
      while (sets_[s].left > kNothing && augment(s)) {
      }
  }
  std::size_t size() const { return sets_.size(); }
  double of(std::size_t set, std::size_t k) const { return sets_[set].flow[k]; }  // to its k-th
  const std::vector<double>& room() const { return room_; }  // what the tokens could still take

 private:
  static constexpr double kNothing = 1e-15;
  static constexpr std::size_t kUnseen = std::numeric_limits<std::size_t>::max();
  struct Set {
    std::vector<Token> tokens;
    std::vector<double> flow;
    double left;
    double& to(Token t) {
      return flow[std::find(tokens.begin(), tokens.end(), t) - tokens.begin()];
    }
  };
  struct Step {  // a token is reached through a set that gives up its flow to `from`
    std::size_t set = kUnseen;
    Token from = redline::kNone;
  };

  // Along a shortest path from the set to a token with room.
  bool augment(std::size_t source) {
    std::vector<Step> by(room_.size());
    std::deque<Token> queue;
    const auto reach = [&](std::size_t set, Token from) {
      for (const Token t : sets_[set].tokens)
        if (by[t].set == kUnseen) by[t] = {set, from}, queue.push_back(t);
    };
    for (reach(source, redline::kNone); !queue.empty(); queue.pop_front()) {
      const Token t = queue.front();
      if (room_[t] > kNothing) return push(source, t, by), true;
      for (const std::size_t set : holders_[t])
        if (sets_[set].to(t) > kNothing) reach(set, t);
    }
    return false;
  }
  void push(std::size_t source, Token end, const std::vector<Step>& by) {
    double amount = std::min(room_[end], sets_[source].left);
    for (Token t = end; by[t].from != redline::kNone; t = by[t].from)
      amount = std::min(amount, sets_[by[t].set].to(by[t].from));
    room_[end] -= amount;
    sets_[source].left -= amount;
    for (Token t = end; t != redline::kNone; t = by[t].from) {
      sets_[by[t].set].to(t) += amount;
      if (by[t].from != redline::kNone) sets_[by[t].set].to(by[t].from) -= amount;
    }
  }

  std::vector<double> room_;                       // [V]
  std::vector<std::vector<std::size_t>> holders_;  // [V] the sets that hold a token
  std::vector<Set> sets_;
};

}  // namespace
