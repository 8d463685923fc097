// SPDX-License-Identifier: Apache-2.0
// Another program, run to its end without a shell.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace redline::files {

struct Child {
  std::vector<std::string> arguments;    // the first is looked up in PATH
  std::vector<std::string> environment;  // "NAME=value", beside or instead of our own
  std::filesystem::path log;             // what it prints, both streams
};

// Its exit status, or 128 + signal. `tick` is called a few times a second while it runs.
// DeviceError: it cannot be started.
int run_child(const Child& child, const std::function<void()>& tick = {});

}  // namespace redline::files
