// SPDX-License-Identifier: Apache-2.0
#include "parallel/mpi/mpi_link.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "parallel/time_limit.hpp"
#include "redline/error.hpp"

namespace redline::parallel {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kData = 1, kFailure = 2;  // tags
constexpr std::chrono::microseconds kYield{500}, kNap{50};
constexpr std::chrono::seconds kLastWord{3};
constexpr std::chrono::milliseconds kFarewell{500};  // to tell the others before this process ends

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw DeviceError(std::string(what) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

int count_of(std::size_t bytes) { return static_cast<int>(bytes); }

}  // namespace

// Gives the core away at first, for the others may need it, then naps.
class MpiLink::Deadline {
 public:
  Deadline(std::chrono::milliseconds limit, Patience patience)
      : waits_(time_limit(limit, patience)) {}
  bool is_over() const { return Clock::now() - begin_ > waits_; }
  std::chrono::milliseconds waits() const { return waits_; }
  void pause() const {
    if (Clock::now() - begin_ < kYield)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kNap);
  }

 private:
  std::chrono::milliseconds waits_;
  Clock::time_point begin_ = Clock::now();
};

MpiLink::MpiLink(std::chrono::milliseconds limit) : limit_(limit) {
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
}

// The launcher ends all processes when the first one ends badly: rank 0, which has more to say and
// to write, goes first.
MpiLink::~MpiLink() {
  if (!has_failed_)
    MPI_Finalize();
  else if (rank_ != 0)
    std::this_thread::sleep_for(kLastWord);
}

// After a failure no request is begun or tested: their memory may be gone.
void MpiLink::check_alive() const {
  if (has_failed_) throw DeviceError("the ranks have ended");
}

void MpiLink::send(std::span<const std::byte> bytes, int to) {
  check_alive();
  pending_.push_back({to, false});
  check(MPI_Isend(bytes.data(), count_of(bytes.size()), MPI_BYTE, to, kData, MPI_COMM_WORLD,
                  &requests_.emplace_back(MPI_REQUEST_NULL)),
        "MPI_Isend");
}

void MpiLink::receive(std::span<std::byte> bytes, int from) {
  check_alive();
  pending_.push_back({from, true});
  check(MPI_Irecv(bytes.data(), count_of(bytes.size()), MPI_BYTE, from, kData, MPI_COMM_WORLD,
                  &requests_.emplace_back(MPI_REQUEST_NULL)),
        "MPI_Irecv");
}

bool MpiLink::test() {
  int done = 0;
  check(MPI_Testall(count_of(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
  return done != 0;
}

void MpiLink::wait(std::string_view what, Patience patience) {
  check_alive();
  const Deadline deadline(limit_, patience);
  while (!test()) {
    look_for_failures();
    if (deadline.is_over()) end(late_text(awaited(), what, deadline.waits()));
    deadline.pause();
  }
  requests_.clear();
  pending_.clear();
}

std::vector<std::byte> MpiLink::receive_any_size(int from, std::string_view what,
                                                 Patience patience) {
  check_alive();
  const Deadline deadline(limit_, patience);
  int found = 0, count = 0;
  MPI_Message message;
  MPI_Status status;
  while (true) {
    check(MPI_Improbe(from, kData, MPI_COMM_WORLD, &found, &message, &status), "MPI_Improbe");
    if (found) break;
    look_for_failures();
    if (deadline.is_over()) end(late_text(std::vector<int>{from}, what, deadline.waits()));
    deadline.pause();
  }
  check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  pending_.push_back({from, true});
  check(MPI_Imrecv(bytes.data(), count, MPI_BYTE, &message,
                   &requests_.emplace_back(MPI_REQUEST_NULL)),
        "MPI_Imrecv");
  wait(what, Patience::LIMIT);
  return bytes;
}

// Whose messages are still to come; those that do not take ours when none is.
std::vector<int> MpiLink::awaited() const {
  std::vector<int> sources, sinks;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    int done = 0;
    MPI_Request_get_status(requests_[i], &done, MPI_STATUS_IGNORE);
    if (!done) (pending_[i].is_receive ? sources : sinks).push_back(pending_[i].peer);
  }
  return sources.empty() ? sinks : sources;
}

void MpiLink::look_for_failures() {
  int found = 0, count = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, kFailure, MPI_COMM_WORLD, &found, &status), "MPI_Iprobe");
  if (!found) return;
  check(MPI_Get_count(&status, MPI_CHAR, &count), "MPI_Get_count");
  std::string text(static_cast<std::size_t>(count), ' ');
  check(MPI_Recv(text.data(), count, MPI_CHAR, status.MPI_SOURCE, kFailure, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE),
        "MPI_Recv");
  has_failed_ = true;
  throw DeviceError(text);
}

void MpiLink::tell(const std::string& text) noexcept {
  if (std::exchange(has_failed_, true)) return;
  std::vector<MPI_Request> sends;
  for (int to = 0; to < size_; ++to)
    if (to != rank_)
      MPI_Isend(text.data(), count_of(text.size()), MPI_CHAR, to, kFailure, MPI_COMM_WORLD,
                &sends.emplace_back(MPI_REQUEST_NULL));
  const auto end = Clock::now() + kFarewell;
  for (int done = 0; !done && Clock::now() < end; std::this_thread::sleep_for(kNap))
    MPI_Testall(count_of(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE);
}

void MpiLink::fail(std::string_view why) noexcept { tell(failed_text(rank_, why)); }

void MpiLink::end(const std::string& text) {
  tell(text);
  throw DeviceError(text);
}

}  // namespace redline::parallel
