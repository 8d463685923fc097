// SPDX-License-Identifier: Apache-2.0
// Messages between the processes of one MPI world, under a time limit. Each pair of ranks has one
// ordered stream, whatever group the message is for: all ranks make their calls in one order.
#pragma once
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "parallel/communicator.hpp"

namespace redline::parallel {

class MpiLink {
 public:
  explicit MpiLink(std::chrono::milliseconds limit);  // begins MPI
  ~MpiLink();  // ends MPI, unless a rank failed: then the launcher ends the other processes
  MpiLink(const MpiLink&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  void send(std::span<const std::byte> bytes, int to);  // begins; the bytes stay until wait()
  void receive(std::span<std::byte> bytes, int from);   // begins
  // Until all that was begun is done. DeviceError: a rank failed, or did not come in time.
  void wait(std::string_view what, Patience patience);
  std::vector<std::byte> receive_any_size(int from, std::string_view what, Patience patience);
  void fail(std::string_view why) noexcept;  // of this rank

 private:
  struct Pending {
    int peer;
    bool is_receive;
  };
  class Deadline;
  bool test();
  void check_alive() const;
  void look_for_failures();
  void tell(const std::string& text) noexcept;  // all other ranks
  [[noreturn]] void end(const std::string& text);
  std::vector<int> awaited() const;

  std::chrono::milliseconds limit_;
  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> requests_;
  std::vector<Pending> pending_;  // [requests]
  bool has_failed_ = false;
};

}  // namespace redline::parallel
