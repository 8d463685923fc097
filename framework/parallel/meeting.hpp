// SPDX-License-Identifier: Apache-2.0
// Where threads wait until all of them have come, and where each leaves a note for the others. The
// meetings of one group share its fault: the first failure of a rank, which ends all waits.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "parallel/communicator.hpp"

namespace redline::parallel {

struct Fault {
  explicit Fault(int ranks) : is_waiting(ranks, false) {}

  std::mutex mutex;  // of the meetings too
  std::condition_variable changed;
  std::vector<bool> is_waiting;  // [ranks] in one of the meetings: not to blame
  std::string why;               // empty: none

  void set(const std::string& text);  // the first one stays
};

struct Note {  // what a rank brings; lives until the rank's next but one arrival
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
};

class Meeting {
 public:
  Meeting(Fault& fault, int ranks, std::chrono::milliseconds limit);
  int ranks() const { return static_cast<int>(here_.size()); }
  // Returns when all ranks have arrived. DeviceError: one failed or did not come in time.
  void arrive(int rank, std::string_view what, Patience patience, Note note = {});
  const Note& note_of(int rank) const { return notes_[round_ & 1][rank]; }  // of the last arrival

 private:
  void wait(std::unique_lock<std::mutex>& lock, int round, std::string_view what,
            Patience patience);
  // The ranks that have not come, and wait nowhere else if there are such.
  std::string missing(std::string_view what, std::chrono::milliseconds waited) const;

  Fault& fault_;
  const std::chrono::milliseconds limit_;
  const bool may_spin_;
  std::vector<bool> here_;  // [ranks] in this round
  int count_ = 0;
  std::atomic<int> round_ = 0;
  std::vector<Note> notes_[2];  // of a round and the next: written while the last one is read
};

}  // namespace redline::parallel
