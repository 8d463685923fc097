// SPDX-License-Identifier: Apache-2.0
// How far a cell is, on stderr: one line that renews itself on a terminal, a plain line a finished
// request elsewhere.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace redline::experiment {

class Progress {
 public:
  Progress(std::string cell, std::int64_t items, std::int64_t done_before);
  ~Progress();                         // leaves the terminal's line
  Progress(const Progress&) = delete;  // the line on the screen is one

  void tokens(std::int64_t count);            // more of the running request
  void finished(const std::string& request);  // "finance_json/fin-003"
  std::string line() const;                   // "ngram 3/12, 41.2 tokens/s, 0:35 left"

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void redraw(bool now);

  std::string cell_;
  std::int64_t items_, done_before_, done_, tokens_ = 0;
  bool terminal_, drawn_ = false;
  Clock::time_point start_, shown_;
};

// Lines to the operator and to run.log. One that ends in '%' is only how far something is: shown
// now and then where it takes long, and not logged.
class Narrator {
 public:
  void say(const std::string& line);

 private:
  std::chrono::steady_clock::time_point begun_{}, shown_{};
};

}  // namespace redline::experiment
