// SPDX-License-Identifier: Apache-2.0
#include "parallel/meeting.hpp"

#include <algorithm>
#include <thread>

#include "parallel/time_limit.hpp"
#include "redline/error.hpp"

namespace redline::parallel {
namespace {

constexpr std::chrono::microseconds kSpin{30};  // about what a wake costs

}  // namespace

void Fault::set(const std::string& text) {
  const std::lock_guard lock(mutex);
  if (why.empty()) why = text;
  changed.notify_all();
}

Meeting::Meeting(Fault& fault, int ranks, std::chrono::milliseconds limit)
    : fault_(fault),
      limit_(limit),
      may_spin_(ranks <= static_cast<int>(std::thread::hardware_concurrency())),
      here_(ranks, false),
      notes_{std::vector<Note>(ranks), std::vector<Note>(ranks)} {}

void Meeting::arrive(int rank, std::string_view what, Patience patience, Note note) {
  std::unique_lock lock(fault_.mutex);
  if (!fault_.why.empty()) throw DeviceError(fault_.why);
  const int round = round_;
  notes_[(round + 1) & 1][rank] = note;
  here_[rank] = true;
  if (++count_ == ranks()) {
    count_ = 0;
    std::fill(here_.begin(), here_.end(), false);
    ++round_;
    fault_.changed.notify_all();
    return;
  }
  fault_.is_waiting[rank] = true;
  wait(lock, round, what, patience);
  fault_.is_waiting[rank] = false;
  if (round_ == round) throw DeviceError(fault_.why);
}

void Meeting::wait(std::unique_lock<std::mutex>& lock, int round, std::string_view what,
                   Patience patience) {
  if (may_spin_) {
    lock.unlock();
    const auto end = std::chrono::steady_clock::now() + kSpin;
    while (round_ == round && std::chrono::steady_clock::now() < end) {
    }
    lock.lock();
  }
  const auto is_over = [&] { return round_ != round || !fault_.why.empty(); };
  if (patience == Patience::ORDER) {
    fault_.changed.wait(lock, is_over);
  } else {
    const auto waits = time_limit(limit_, patience);
    if (!fault_.changed.wait_for(lock, waits, is_over)) {
      fault_.why = missing(what, waits);
      fault_.changed.notify_all();
    }
  }
}

std::string Meeting::missing(std::string_view what, std::chrono::milliseconds waited) const {
  std::vector<int> late, idle;
  for (int rank = 0; rank < ranks(); ++rank)
    if (!here_[rank]) (fault_.is_waiting[rank] ? idle : late).push_back(rank);
  return late_text(late.empty() ? idle : late, what, waited);
}

}  // namespace redline::parallel
