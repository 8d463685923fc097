// SPDX-License-Identifier: Apache-2.0
#include "check/model_run.hpp"

#include "step/draws.hpp"

namespace redline::check {
namespace {

constexpr std::int32_t kPromptTokens = 8;  // of a random prompt
constexpr std::int64_t kVersion = 1;       // of the state

class Kept final : public trace::Sink {  // steps in memory
 public:
  explicit Kept(std::vector<trace::StepRecord>& steps) : steps_(steps) {}
  trace::Level level() const override { return trace::Level::CHOSEN; }
  std::int32_t topk() const override { return 0; }
  void step(trace::StepRecord record) override { steps_.push_back(std::move(record)); }
  void batch(trace::BatchRecord) override {}
  void request(trace::RequestRecord) override {}
  void event(trace::EventRecord) override {}

 private:
  std::vector<trace::StepRecord>& steps_;
};

std::int64_t read(const config::Value& state, const char* name) {
  return state.at(name).integer(0, INT64_MAX);
}

}  // namespace

model::TinySpec tiny_spec(std::int32_t layers) {
  return {.layers = layers,
          .hidden = 64,
          .heads = 2,
          .kv_heads = 1,
          .feed_forward = 128,
          .extra_vocab = 0,
          .type = files::TensorType::Q8_0,
          .scale = 0.7};
}

ModelRun::ModelRun(const ModelSpec& spec, const plugin::Registry& registry,
                   std::unique_ptr<Judge> judge, const Say& say)
    : spec_(spec), engine_(spec.settings, registry, say), judge_(std::move(judge)) {}

engine::Request ModelRun::request(std::int64_t number) const {
  engine::Request r;
  r.key = engine::request_key("check", static_cast<std::uint64_t>(number), 0, 0);
  r.seed = spec_.seed;
  r.max_tokens = spec_.text_tokens;
  r.ignore_eos = true;
  if (!spec_.prompts.empty()) {
    r.prompt = spec_.prompts[static_cast<std::size_t>(number) % spec_.prompts.size()];
    return r;
  }
  const auto n = static_cast<std::uint32_t>(number);
  for (std::uint32_t k = 0; k < kPromptTokens; ++k) {
    const step::PhiloxBlock block = step::philox4x32({n, k, 0, 0}, spec_.seed);
    r.prompt.push_back(static_cast<Token>(block[0] % static_cast<std::uint32_t>(engine_.vocab())));
  }
  return r;
}

bool ModelRun::advance(const std::function<bool()>& cancelled) {
  const engine::Request wanted = request(texts_);
  std::vector<trace::StepRecord> steps;
  Kept sink(steps);
  const engine::Result result = engine_.run(wanted, sink, {}, cancelled);
  if (result.finish == trace::FinishReason::CANCELLED) return false;
  if (result.finish == trace::FinishReason::ERROR)
    throw Error("text " + std::to_string(texts_) + " ended with an error: " + result.error);
  judge_->read({wanted, result, std::move(steps)});
  ++texts_;
  tokens_ += static_cast<std::int64_t>(result.tokens.size());
  kept_ += static_cast<std::int64_t>(result.counts.accepted_by_rule);
  drafting_steps_ += static_cast<std::int64_t>(result.counts.drafting_steps);
  return true;
}

double ModelRun::kept_per_step() const {
  return drafting_steps_ ? static_cast<double>(kept_) / static_cast<double>(drafting_steps_) : 0;
}

config::Value ModelRun::state() const {
  return config::Value::map()
      .put("version", config::Value::of(kVersion))
      .put("texts", config::Value::of(texts_))
      .put("tokens", config::Value::of(tokens_))
      .put("kept", config::Value::of(kept_))
      .put("drafting_steps", config::Value::of(drafting_steps_))
      .put("judge", judge_->state());
}

void ModelRun::restore(const config::Value& state) {
  if (read(state, "version") != kVersion)
    state.refuse("is of another version of redline; start the check anew");
  texts_ = read(state, "texts");
  tokens_ = read(state, "tokens");
  kept_ = read(state, "kept");
  drafting_steps_ = read(state, "drafting_steps");
  judge_->restore(state.at("judge"));
}

}  // namespace redline::check
