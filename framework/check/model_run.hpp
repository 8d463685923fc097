// SPDX-License-Identifier: Apache-2.0
// A plugin on a real model: texts generated one by one and handed to a judge. Every text follows
// from the seed and its own number, so a run that is saved and gone on with ends as one that was
// not.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "check/gates.hpp"
#include "engine/engine.hpp"
#include "model/tiny_model.hpp"

namespace redline::check {

// A generated target (2 layers) and its draft (1): the target without its last layer, and both far
// from sure, so that it is often right.
model::TinySpec tiny_spec(std::int32_t layers);

struct ModelSpec {
  engine::Settings settings;  // the plugin under check among its partners
  std::string draft;          // the model whose rows order the ranks; "": none
  std::uint64_t seed = 1;
  std::int32_t text_tokens = 256;           // of one text, prompt not counted
  std::vector<std::vector<Token>> prompts;  // taken in turn; empty: random ids
};

struct Text {
  const engine::Request& request;
  const engine::Result& result;
  std::vector<trace::StepRecord> steps;
};

struct Report {
  std::vector<Gate> gates;          // of a sampled text
  std::vector<std::string> faults;  // what no chance explains, in words
};

class Judge {
 public:
  virtual ~Judge() = default;
  virtual void read(const Text& text) = 0;
  virtual Report report(double size) const = 0;
  virtual config::Value state() const = 0;
  virtual void restore(const config::Value& state) = 0;
};

// Holds sampled text to the laws of plain decoding: p after the request's sampling, forced.
std::unique_ptr<Judge> law_judge(const ModelSpec& spec, const plugin::Registry& registry);
// Holds greedy text to that of plain decoding by another engine, token by token.
std::unique_ptr<Judge> twin_judge(const ModelSpec& spec, const plugin::Registry& registry);

class ModelRun {
 public:
  using Say = engine::Engine::Say;
  ModelRun(const ModelSpec& spec, const plugin::Registry& registry, std::unique_ptr<Judge> judge,
           const Say& say);

  // The next text. False when it was cancelled: nothing of it counts. Error: the text ended so.
  bool advance(const std::function<bool()>& cancelled = {});
  std::int64_t texts() const { return texts_; }
  std::int64_t tokens() const { return tokens_; }
  double kept_per_step() const;  // of steps that drafted
  Report report(double size) const { return judge_->report(size); }
  config::Value state() const;
  void restore(const config::Value& state);  // InputError: of another version

 private:
  engine::Request request(std::int64_t number) const;
  const ModelSpec& spec_;
  engine::Engine engine_;
  std::unique_ptr<Judge> judge_;
  std::int64_t texts_ = 0, tokens_ = 0, kept_ = 0, drafting_steps_ = 0;
};

}  // namespace redline::check
