// SPDX-License-Identifier: Apache-2.0
// A cell as a process of its own: a crash costs that cell. Signals to stop are passed on.
#pragma once
#include <string>
#include <vector>

namespace redline::experiment {

struct ChildEnd {
  int exit_code = 0;         // 128 + signal when a signal ended it
  int signal = 0;            // 0: it ended by itself
  bool interrupted = false;  // we were asked to stop while it ran
  std::string text() const;  // "killed by signal 9 (Killed)", "exit code 2"
};

// Runs this very program with `arguments` and waits; under `launcher`, words that start it, if
// there are any. The first Ctrl-C or SIGTERM reaches it as SIGTERM, the second as SIGKILL. Error:
// it cannot be started.
ChildEnd run_self(const std::vector<std::string>& arguments, const std::string& launcher = "");

}  // namespace redline::experiment
