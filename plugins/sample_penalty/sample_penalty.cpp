// SPDX-License-Identifier: Apache-2.0
// Penalties for what the text holds already, drafted tokens above the row included: the host forks
// the memory along the draft.
#include <algorithm>

#include "redline/plugin.hpp"

namespace {

using redline::Token;

struct Seen {
  struct Count {
    Token token;
    int in_output;
  };
  int prompt_left = 0;        // tokens of the prompt still to come
  std::vector<Count> counts;  // by token; flat, since it is copied for every drafted node
};

class Penalty final : public redline::SamplerOf<Seen>, public redline::AnyThread {
 public:
  struct Params {
    double repetition = 1, frequency = 0, presence = 0;
    void visit(redline::ParameterVisitor& v) {
      v("repetition", repetition, {0.01, 100},
        "divides positive and multiplies negative logits of tokens in prompt or output");
      v("frequency", frequency, {-10, 10}, "taken off for each time a token is in the output");
      v("presence", presence, {-10, 10}, "taken off once if a token is in the output");
    }
  };
  explicit Penalty(const Params& p)
      : repetition_(static_cast<float>(p.repetition)),
        frequency_(static_cast<float>(p.frequency)),
        presence_(static_cast<float>(p.presence)) {}

 private:
  redline::Slot do_slot() const override { return redline::Slot::PENALTY; }
  Seen start(const redline::Sequence& s) const override { return {s.prompt_tokens, {}}; }
  void step(Seen& seen, Token t) const override {
    auto it = std::lower_bound(seen.counts.begin(), seen.counts.end(), t,
                               [](const Seen::Count& c, Token x) { return c.token < x; });
    if (it == seen.counts.end() || it->token != t) it = seen.counts.insert(it, {t, 0});
    if (seen.prompt_left > 0)
      --seen.prompt_left;
    else
      ++it->in_output;
  }
  void edit(const Seen& seen, redline::Logits& row) const override {
    for (const auto& [token, in_output] : seen.counts) {
      float x = row.at(token);
      x = x > 0 ? x / repetition_ : x * repetition_;
      if (in_output > 0) x -= frequency_ * static_cast<float>(in_output) + presence_;
      row.set(token, x);
    }
  }
  float repetition_, frequency_, presence_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Penalty>("sample_penalty",
                                       "repetition, frequency and presence penalties"));
