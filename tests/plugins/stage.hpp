// SPDX-License-Identifier: Apache-2.0
// What a built-in plugin needs around it to be tried alone: a model that is a function of the path,
// draws that follow a script, and proposals under a plain budget.
#pragma once
#include <functional>
#include <vector>

#include "plugin/registry.hpp"

namespace stage {

using namespace redline;

inline const plugin::Registry& registry() {
  static const plugin::Registry all({}, {});
  return all;
}

class Model final : public redline::Model {
 public:
  using Law = std::function<Row(const Sequence&, std::vector<Token> path)>;
  explicit Model(Law law) : law_(std::move(law)) {}
  std::vector<std::size_t> asked;  // nodes of each forward

 private:
  redline::List<Row> do_forward(std::span<const Ask> asks) override {
    asked.push_back(asks.size());
    redline::List<Row> rows;
    for (const Ask& a : asks) {
      const auto path = a.draft.path(a.node);
      rows.push_back(law_(a.sequence, {path.begin(), path.end()}));
    }
    return rows;
  }
  Law law_;
};

class Host final : public redline::Host {
 public:
  explicit Host(redline::Model* model = nullptr) : model_(model) {}

 private:
  redline::Model& do_open_model(const ModelChoice& choice, std::int32_t) override {
    if (choice.model != "draft") throw InputError("no model '" + choice.model + "'");
    return *model_;
  }
  redline::Model* model_;
};

class Draws final : public redline::Draws {  // each call takes the next scripted outcome
 public:
  explicit Draws(std::vector<int> script = {}) : script_(std::move(script)) {}
  std::vector<double> probs;  // of the bernoulli calls
  std::string calls;          // b, c, s, g

 private:
  int next(char call) {
    calls += call;
    return script_.at(calls.size() - 1);
  }
  bool do_bernoulli(Node, double prob) override {
    probs.push_back(prob);
    return next('b') != 0;
  }
  Token do_categorical(Node, const Row& row) override { return checked(next('c'), row); }
  Token do_sample(Node, const Row& row) override { return checked(next('s'), row); }
  Token do_gumbel_argmax(Node, const Row& row) override { return checked(next('g'), row); }
  static Token checked(Token t, const Row& row) {
    if (!(row.at(t) > 0)) throw Error("scripted an impossible token");
    return t;
  }
  std::vector<int> script_;
};

class NoLimit final : public DraftLength {
  void do_choose(std::span<const Turn>, std::span<Budget>) override {}
};

// One drafter, one call of propose over some sequences with the same budget.
inline std::vector<Draft> propose(Drafter& drafter, std::span<const Sequence> sequences, int depth,
                                  Draws& draws) {
  const NoLimit policy;
  std::vector<std::unique_ptr<State>> states;
  std::vector<Proposal> batch;
  batch.reserve(sequences.size());
  for (const Sequence& s : sequences) {
    states.push_back(drafter.begin(s));
    batch.emplace_back(Turn{s, states.back().get()}, Limit{{depth, depth}, policy, nullptr}, draws);
  }
  drafter.propose(batch);
  std::vector<Draft> out;
  for (const Proposal& p : batch) out.push_back(p.draft());
  return out;
}
inline std::vector<Token> tokens(const Draft& draft) {
  const auto path = draft.path(draft.size());
  return {path.begin(), path.end()};
}

}  // namespace stage
