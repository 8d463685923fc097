// SPDX-License-Identifier: Apache-2.0
#include "check/apart.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>

namespace redline::check {
namespace {

// The first byte says how it ended. What a plugin prints is not the report's.
[[noreturn]] void answer_into(int pipe, const std::function<std::string()>& check) {
  ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
  std::string text;
  try {
    text = "P" + check();
  } catch (const Refusal& e) {
    text = std::string("R") + e.what();
  } catch (const std::exception& e) {
    text = std::string("F") + e.what();
  } catch (...) {
    text = "Fthrew what is no std::exception";
  }
  const bool is_said = ::write(pipe, text.data(), text.size()) >= 0;
  ::_exit(is_said ? 0 : 1);  // no destructors: they are the parent's
}

// Everything until the other end closes; false when `limit` passes first.
bool read_all(int pipe, std::chrono::milliseconds limit, std::string& text) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (char part[4096];;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd waiting{pipe, POLLIN, 0};
    const int ready = left.count() > 0 ? ::poll(&waiting, 1, static_cast<int>(left.count())) : 0;
    if (ready == 0) return false;
    const ssize_t got = ready > 0 ? ::read(pipe, part, sizeof part) : -1;
    if (got == 0) return true;
    if (got > 0) text.append(part, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string refusal(const PluginError& fault, const std::string& rule) {
  try {
    std::rethrow_if_nested(fault);
  } catch (const Error& cause) {
    if (std::string_view(cause.what()).starts_with(rule + ": ")) return cause.what();
  } catch (...) {
  }
  return "";
}

Answer run_apart(const std::function<std::string()>& check, std::chrono::milliseconds limit) {
  int ends[2];
  if (::pipe(ends) != 0) throw Error(std::string("no pipe for a check: ") + std::strerror(errno));
  std::fflush(nullptr);  // or both processes would write what is buffered
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    answer_into(ends[1], check);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    throw Error(std::string("no process for a check: ") + std::strerror(errno));
  }
  std::string text;
  const bool in_time = read_all(ends[0], limit, text);
  ::close(ends[0]);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!in_time)
    return {Answer::Kind::TIMED_OUT, "no answer in " + std::to_string(limit.count()) + " ms"};
  if (WIFSIGNALED(status))
    return {Answer::Kind::FAILED, std::string("crashed: ") + ::strsignal(WTERMSIG(status))};
  if (text.empty()) return {Answer::Kind::FAILED, "ended the process without an answer"};
  const auto kind = text[0] == 'P'   ? Answer::Kind::PASSED
                    : text[0] == 'R' ? Answer::Kind::REFUSED
                                     : Answer::Kind::FAILED;
  return {kind, text.substr(1)};
}

}  // namespace redline::check
