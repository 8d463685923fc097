// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <thread>

namespace piped {
namespace {

constexpr Process::Seconds kNow{0}, kGrace{1};  // until a process that should end is killed
constexpr char kAsk = '?', kAnswer = '!';

}  // namespace

Process::Process(std::string command, int memory, Seconds limit) : command_(std::move(command)) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) ends[0] = ends[1] = -1;
  socket_.emplace(ends[0]);
  std::optional<Descriptor> other(ends[1]);
  const int error = start(memory, other->get());
  other.reset();  // or the process's end would stay open when it is gone
  if (error != 0)
    throw redline::Error(std::string("cannot start /bin/sh: ") + std::strerror(error));
  await(limit, "was not ready within start_s");
}

Process::~Process() { end(kGrace); }

void Process::exchange(Seconds limit) {
  if (!fault_.empty()) throw redline::Error(fault_);
  char early = 0;
  if (::recv(socket_->get(), &early, 1, MSG_DONTWAIT) == 1) fail("spoke without being asked");
  if (::send(socket_->get(), &kAsk, 1, MSG_NOSIGNAL) != 1) fail(ending());
  await(limit, "gave no answer within limit_s");
}

int Process::start(int memory, int socket) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  // Our standard output may be a table that someone parses.
  ::posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, memory, kMemory);
  ::posix_spawn_file_actions_adddup2(&files, socket, kSocket);
  ::posix_spawn_file_actions_addclosefrom_np(&files, kSocket + 1);  // no other file of ours
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  // A group of its own, so that what the shell started ends with it; no signal blocked.
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&how, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&how, &none);
  char shell[] = "/bin/sh", option[] = "-c";
  char* const arguments[] = {shell, option, command_.data(), nullptr};
  const int error = ::posix_spawn(&pid_, shell, &files, &how, arguments, ::environ);
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) pid_ = 0;  // unspecified then
  return error;
}

void Process::await(Seconds limit, const std::string& otherwise) {
  const auto until = std::chrono::steady_clock::now() + limit;
  pollfd waiting{socket_->get(), POLLIN, 0};
  for (;;) {
    const Seconds left = until - std::chrono::steady_clock::now();
    const auto left_ms = static_cast<int>(std::ceil(std::max(0., left.count()) * 1000));
    const int ready = ::poll(&waiting, 1, left_ms);
    if (ready > 0) break;
    if (ready == 0)
      fail(otherwise + " (" + std::to_string(static_cast<long>(limit.count() * 1000)) +
           " ms); raise it, or see where the process hangs");
    if (errno != EINTR) fail(std::string("cannot be waited for: ") + std::strerror(errno));
  }
  char byte = 0;
  if (::recv(socket_->get(), &byte, 1, 0) != 1) fail(ending());
  if (byte != kAnswer)
    fail("answered with byte " + std::to_string(byte) + ", not " + std::to_string(kAnswer));
}

void Process::fail(const std::string& what) {
  end(kNow);
  fault_ = "`" + command_ + "` " + what + ". It has been ended: from here on nothing is drafted";
  throw redline::Error(fault_);
}

// How it went, once it has closed its end.
std::string Process::ending() {
  const int status = end(kGrace);
  if (!WIFEXITED(status))
    return std::string("ended by the signal ") + ::strsignal(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  constexpr int kSignals = 128;  // a shell's codes for what a signal ended
  const bool by_signal = code > kSignals && code < kSignals + NSIG;
  return "ended with exit code " + std::to_string(code) +
         (by_signal ? std::string(" (") + ::strsignal(code - kSignals) + ")" : "") +
         "; what it said is on standard error";
}

// Told that no more will be asked, given a while, then killed with all it started; its status.
int Process::end(Seconds grace) {
  if (pid_ == 0) return 0;
  ::shutdown(socket_->get(), SHUT_WR);
  const auto until = std::chrono::steady_clock::now() + grace;
  siginfo_t seen{};
  // Reaped only after the kill, so that the group's number is nobody else's by then.
  while (::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         seen.si_pid == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ::kill(-pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  return status;
}

}  // namespace piped
