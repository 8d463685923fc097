// SPDX-License-Identifier: Apache-2.0
// requests.jsonl: one line a finished request, written when its trace is safe. What stands here is
// done and never run again; the summary and the report are computed from it alone.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/request.hpp"
#include "experiment/data_set.hpp"
#include "experiment/step_tally.hpp"

namespace redline::experiment {

struct Finished {
  std::uint64_t key = 0;
  std::string data_set, id, category;
  bool is_warmup = false;
  std::int32_t attempt = 0;
  std::int32_t num_prompt = 0;
  std::vector<Token> prompt_head;  // the first 16 ids: a doubled BOS shows here
  std::string finish, error;       // finish: stop, length, context, error, cancelled
  std::string text;
  std::vector<Token> tokens;
  std::vector<float> margins;  // raw logit gap to the runner-up, of each token
  engine::Counts counts;
  std::vector<std::uint16_t> drafted_per_step, accepted_per_step;
  std::int64_t start_ns = 0;            // on the clock of its attempt
  std::vector<engine::StepTime> times;  // end_ns since the request's start
  std::int64_t draft_ns = 0, target_ns = 0, verify_ns = 0, sample_ns = 0, kv_ns = 0;
  Tally tally;
  std::optional<double> score;  // of its data set's references, where they are compared
  bool failed() const { return finish == "error" || finish == "cancelled"; }
};

Finished finished_of(const Item& item, const engine::Request& request, engine::Result result,
                     const Tally& tally, std::int32_t attempt);
std::string to_line(const Finished& finished);  // JSON, no line break
Finished read_line(const config::Value& line);

// The finished requests of a cell. A last line without its line break was being written when the
// process died: it is cut off the file when `repair`, left out otherwise. No file: none.
std::vector<Finished> read_requests(const std::filesystem::path& file, bool repair = false);

// Appends each line by one write, so that a kill leaves whole lines. Holds the cell's lock: one
// process at a time runs it.
class RequestLog {
 public:
  explicit RequestLog(const std::filesystem::path& file);  // InputError: another has it
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;  // owns the descriptor
  void append(const Finished& finished);

 private:
  std::filesystem::path file_;
  int descriptor_;
};

}  // namespace redline::experiment
