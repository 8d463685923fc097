// SPDX-License-Identifier: Apache-2.0
// Every emitted token against the law it ought to have been drawn from.
#include "check/forced_rows.hpp"
#include "check/model_run.hpp"
#include "step/chain.hpp"
#include "step/draws.hpp"

namespace redline::check {
namespace {

using Rows = std::vector<Row>;

class LawJudge final : public Judge {
 public:
  LawJudge(const ModelSpec& spec, const plugin::Registry& registry)
      : seed_(spec.seed), chain_(links(spec, registry)), target_(forced(spec, 0)) {
    if (!spec.draft.empty()) draft_.emplace(forced(spec, target_.vocab()));
  }

  void read(const Text& text) override {
    const std::vector<Token>& prompt = text.request.prompt;
    const std::vector<Token>& out = text.result.tokens;
    std::vector<Token> all = prompt;
    all.insert(all.end(), out.begin(), out.end());
    const Rows p = laws(target_, all, prompt.size());
    const Rows q = draft_ ? laws(*draft_, all, prompt.size()) : Rows{};
    gates_.begin_text();
    for (std::size_t k = 0; k < out.size(); ++k)
      gates_.token(out[k], p[k], draft_ ? &q[k] : nullptr, uniform(text.request.key, k));
    for (const trace::StepRecord& step : text.steps) gates_.step(step);
  }

  Report report(double size) const override {
    Report r{gates_.report(size), {}};
    if (gates_.impossible() > 0)
      r.faults.push_back(std::to_string(static_cast<std::int64_t>(gates_.impossible())) +
                         " emitted tokens have p = 0");
    return r;
  }
  config::Value state() const override { return gates_.state(); }
  void restore(const config::Value& state) override { gates_.restore(state); }

 private:
  static std::vector<std::unique_ptr<Sampler>> links(const ModelSpec& spec,
                                                     const plugin::Registry& registry) {
    Host nothing;  // a link needs none
    std::vector<std::unique_ptr<Sampler>> out;
    for (const engine::PluginChoice& link : spec.settings.sampler)
      out.push_back(registry.make<Sampler>(link.name, link.arguments, nothing));
    return out;
  }
  static ForcedSpec forced(const ModelSpec& spec, std::int32_t vocab) {
    const engine::Settings& s = spec.settings;
    return {.model = vocab == 0 ? s.target : spec.draft,
            .device = s.device,
            .isa = s.isa,
            .threads = s.threads,
            .max_tokens = s.max_model_len,
            .cache_folder = s.cache_folder,
            .vocab = vocab};
  }
  // Of each token from the prompt's end on.
  Rows laws(ForcedRows& model, const std::vector<Token>& all, std::size_t prompt) const {
    const auto begin = static_cast<std::int32_t>(prompt);
    const auto end = static_cast<std::int32_t>(all.size());
    const redline::Sequence seen{.id = 0,
                                 .tokens = std::span(all).first(prompt),
                                 .prompt_tokens = begin,
                                 .tokens_left = end - begin,
                                 .vocab = model.vocab()};
    step::Chain::Path path = chain_.begin(seen);
    Rows rows;
    const std::span<const Token> fed = std::span(all).first(all.size() - 1);
    model.over(fed, begin - 1, [&](std::int32_t at, std::span<const float> logits) {
      if (at >= begin) chain_.advance(path, all[at]);
      rows.push_back(chain_.apply(path, logits));
    });
    return rows;
  }
  double uniform(std::uint64_t key, std::size_t place) const {
    const auto at = static_cast<std::uint32_t>(place);
    const step::PhiloxBlock block = step::philox4x32(
        {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32), at, 1}, seed_);
    return (block[0] + .5) * 0x1p-32;
  }

  std::uint64_t seed_;
  step::Chain chain_;
  ForcedRows target_;
  std::optional<ForcedRows> draft_;
  Gates gates_;
};

}  // namespace

std::unique_ptr<Judge> law_judge(const ModelSpec& spec, const plugin::Registry& registry) {
  return std::make_unique<LawJudge>(spec, registry);
}

}  // namespace redline::check
