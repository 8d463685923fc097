// SPDX-License-Identifier: Apache-2.0
#include "experiment/child.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "redline/error.hpp"

namespace redline::experiment {
namespace {

// What the parent waits for, held back so that none is lost between two calls.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&set_, signal);
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;  // the mask is the process's
  int next() const { return ::sigwaitinfo(&set_, nullptr); }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t set_, before_;
};

// In a group of its own: the terminal's Ctrl-C comes to us alone, and once.
pid_t spawn(std::vector<std::string> arguments, const sigset_t& mask) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, argv[0], nullptr, &attributes, argv.data(), ::environ);
  ::posix_spawnattr_destroy(&attributes);
  if (failed)
    throw Error("cannot start a cell's process, " + arguments[0] + ": " + std::strerror(failed));
  return pid;
}

}  // namespace

std::string ChildEnd::text() const {
  if (signal == 0) return "exit code " + std::to_string(exit_code);
  return "killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

ChildEnd run_self(const std::vector<std::string>& arguments, const std::string& launcher) {
  const HeldSignals held;
  std::vector<std::string> words;
  std::istringstream text(launcher);
  for (std::string word; text >> word;) words.push_back(word);
  words.push_back(std::filesystem::read_symlink("/proc/self/exe"));
  words.insert(words.end(), arguments.begin(), arguments.end());
  const pid_t child = spawn(words, held.before());
  ChildEnd end;
  for (int status = 0;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child && WIFSIGNALED(status)) {
      end.signal = WTERMSIG(status);
      end.exit_code = 128 + end.signal;
      return end;
    }
    if (ended == child) {
      end.exit_code = WEXITSTATUS(status);
      return end;
    }
    if (ended < 0 && errno != EINTR) throw Error("lost sight of a cell's process");
    const int signal = held.next();
    if (signal != SIGINT && signal != SIGTERM) continue;
    ::kill(child, end.interrupted ? SIGKILL : SIGTERM);
    end.interrupted = true;
  }
}

}  // namespace redline::experiment
