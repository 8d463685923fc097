// SPDX-License-Identifier: Apache-2.0
#include "files/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "redline/error.hpp"

namespace redline::files {
namespace {

std::vector<std::string> merged_environment(const std::vector<std::string>& changes) {
  const auto name = [](std::string_view entry) { return entry.substr(0, entry.find('=') + 1); };
  std::vector<std::string> merged = changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool changed = false;
    for (const std::string& change : changes) changed |= name(change) == name(*entry);
    if (!changed) merged.emplace_back(*entry);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

int run_child(const Child& child, const std::function<void()>& tick) {
  std::vector<std::string> arguments = child.arguments;
  std::vector<std::string> environment = merged_environment(child.environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, child.log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int error = posix_spawnp(&process, arguments[0].c_str(), &actions, nullptr,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw DeviceError("cannot start " + arguments[0] + ": " + std::strerror(error) +
                      "; install it or check PATH");
  int status = 0;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (tick) tick();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace redline::files
