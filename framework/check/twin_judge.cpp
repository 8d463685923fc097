// SPDX-License-Identifier: Apache-2.0
// Greedy text against plain decoding's: rows do not depend on what shares a forward, so that not
// one token may differ.
#include "check/model_run.hpp"

namespace redline::check {
namespace {

class TwinJudge final : public Judge {
 public:
  TwinJudge(const ModelSpec& spec, const plugin::Registry& registry)
      : plain_(plain(spec.settings), registry, [](const std::string&) {}) {}

  void read(const Text& text) override {
    trace::NoTrace none;
    const engine::Result plain = plain_.run(text.request, none);
    const std::vector<Token>&mine = text.result.tokens, &its = plain.tokens;
    std::size_t same = 0;
    while (same < its.size() && same < mine.size() && mine[same] == its[same]) ++same;
    ++texts_;
    tokens_ += static_cast<std::int64_t>(same);
    if (same == its.size() && same == mine.size()) return;
    if (diverged_++ > 0 || same >= its.size() || same >= mine.size()) return;
    first_ = "text " + std::to_string(texts_ - 1) + ", token " + std::to_string(same) + ": " +
             std::to_string(mine[same]) + ", plain decoding " + std::to_string(its[same]) +
             " by a margin of " + std::to_string(plain.margins[same]);
  }

  Report report(double) const override {
    if (diverged_ == 0) return {};
    return {{},
            {std::to_string(diverged_) + " of " + std::to_string(texts_) +
             " texts diverge from plain decoding, " +
             std::to_string(1000.0 * static_cast<double>(diverged_) /
                            static_cast<double>(std::max<std::int64_t>(1, tokens_))) +
             " in 1000 tokens; the first: " + first_}};
  }
  config::Value state() const override {
    return config::Value::map()
        .put("texts", config::Value::of(texts_))
        .put("tokens", config::Value::of(tokens_))
        .put("diverged", config::Value::of(diverged_))
        .put("first", config::Value::of(first_));
  }
  void restore(const config::Value& state) override {
    texts_ = state.at("texts").integer(0, INT64_MAX);
    tokens_ = state.at("tokens").integer(0, INT64_MAX);
    diverged_ = state.at("diverged").integer(0, INT64_MAX);
    first_ = state.at("first").text();
  }

 private:
  static engine::Settings plain(engine::Settings settings) {
    settings.draft = {"draft_none", {}};
    settings.accept = {"accept_match", {}};
    settings.length = {"length_fixed", {}};
    return settings;
  }
  engine::Engine plain_;
  std::int64_t texts_ = 0, tokens_ = 0, diverged_ = 0;
  std::string first_;
};

}  // namespace

std::unique_ptr<Judge> twin_judge(const ModelSpec& spec, const plugin::Registry& registry) {
  return std::make_unique<TwinJudge>(spec, registry);
}

}  // namespace redline::check
