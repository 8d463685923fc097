// SPDX-License-Identifier: Apache-2.0
// One request and what came of it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/decoding.hpp"
#include "redline/types.hpp"
#include "step/progress.hpp"
#include "trace/records.hpp"

namespace redline::engine {

struct Request {
  std::uint64_t key = 0;  // request_key(data set, question, turn, repeat)
  std::uint64_t seed = 0;
  std::vector<Token> prompt = {};
  std::int32_t max_tokens = 96, min_tokens = 0;
  std::vector<Token> stop_tokens = {};  // beside the model's end-of-generation ids
  std::vector<std::string> stop_strings = {};
  bool ignore_eos = false;
  std::int32_t logprobs = 0;  // alternatives wanted beside each token
  Decoding decoding = {};     // what it wants otherwise than the engine's settings
  // For the records only.
  std::uint64_t question_id = 0;
  std::uint16_t category = 0, repeat = 0;
  std::uint8_t turn = 0;
  bool is_warmup = false;
};

// A hash of where a request comes from, never of when it came.
std::uint64_t request_key(std::string_view data_set, std::uint64_t question, std::uint32_t turn,
                          std::uint32_t repeat);

struct Counts {  // one meaning each (docs/design.md)
  std::uint64_t drafted = 0, accepted_by_rule = 0;
  std::uint64_t committed = 0, emitted = 0;     // the token that prefill yields is one of both
  std::uint64_t steps = 0, drafting_steps = 0;  // verify steps; those with at least one draft
  bool operator==(const Counts&) const = default;
};

struct StepTime {       // one verify step as the user feels it
  std::int64_t end_ns;  // on the steady clock
  std::int32_t emitted;
};

struct Result {
  std::vector<Token> tokens;                                 // emitted, the stop token included
  std::vector<float> logprobs;                               // of each, from p
  std::vector<std::vector<step::Alternative>> alternatives;  // of each; best first
  std::string text;  // control tokens left out, cut at a stop string
  trace::FinishReason finish = trace::FinishReason::LENGTH;
  std::string error;
  Counts counts;
  std::vector<std::uint16_t> drafted_per_step, accepted_per_step;  // of drafting steps
  std::vector<StepTime> times;  // the first entry is the prefill token's
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t draft_ns = 0, target_ns = 0, verify_ns = 0, sample_ns = 0,
               kv_ns = 0;  // after prefill
  // Each emitted token's raw logit gap to the runner-up (for the first-divergence report).
  std::vector<float> margins;
  std::int32_t n_prompt = 0;
  std::int32_t cached_tokens = 0;  // of the prompt, restored from the prefix cache
  std::int32_t preemptions = 0;
};

}  // namespace redline::engine
