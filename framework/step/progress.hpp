// SPDX-License-Identifier: Apache-2.0
// What one step did to one sequence, whose tokens, tokens_left and steps have moved on with it.
#pragma once
#include <exception>
#include <string>
#include <vector>

#include "trace/records.hpp"

namespace redline::step {

enum class Fault : std::uint8_t { NONE, BAD_ROW, PLUGIN };

struct Alternative {
  Token token;
  float logprob;
  bool operator==(const Alternative&) const = default;
};

struct Progress {         // the engine walks `committed` token by token for its stops
  List<Token> committed;  // kept path, then the next token; empty after a chunk
  List<float> logprobs;   // of each committed token, from p
  List<float> margins;    // of each: its raw logit less the best other one
  std::vector<std::vector<Alternative>> top;        // of each: the best of p, as many as wanted
  std::uint16_t drafted = 0, accepted_by_rule = 0;  // depth of the draft, of the kept path
  Fault fault = Fault::NONE;
  std::string error;         // with a fault: this request ends with it, the others go on
  std::exception_ptr cause;  // of a plugin's fault
  std::string bad_draft;     // not empty: the draft failed, this was a plain step instead
  bool is_chunk = false;     // keys and values were computed, nothing else
  bool is_feed = false;      // likewise, those of draft models
  trace::StepRecord record;  // `emitted` and `batch_id` are the engine's to fill
};

struct Timings {  // of one iteration, ns
  std::int64_t draft = 0, target = 0, verify = 0, sample = 0, kv = 0, log = 0, total = 0;
  std::uint32_t rows = 0;  // of the target
};

}  // namespace redline::step
