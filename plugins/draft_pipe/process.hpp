// SPDX-License-Identifier: Apache-2.0
// A command of the user that runs beside us: woken by a byte, it answers with one. It ends when we
// do; one that breaks the rules is ended, and every later call says why.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "memory.hpp"

namespace piped {

class Process {
 public:
  using Seconds = std::chrono::duration<double>;
  static constexpr int kMemory = 3, kSocket = 4;  // the descriptors it finds

  // Waits until it says that it is ready.
  Process(std::string command, int memory, Seconds limit);
  ~Process();
  Process(const Process&) = delete;  // owns the process
  Process& operator=(const Process&) = delete;

  const std::string& command() const { return command_; }
  // Wakes it and waits until it has answered. Error: it has not, or has ended; also earlier.
  void exchange(Seconds limit);

 private:
  int start(int memory, int socket);
  void await(Seconds limit, const std::string& otherwise);
  [[noreturn]] void fail(const std::string& what);
  std::string ending();
  int end(Seconds grace);

  std::string command_, fault_;
  std::optional<Descriptor> socket_;  // ours; the process has the other end
  pid_t pid_ = 0;                     // 0: reaped
};

}  // namespace piped
