// SPDX-License-Identifier: Apache-2.0
// A variable of the environment, set for one scope.
#pragma once
#include <cstdlib>

#include <optional>
#include <string>

namespace redline::tests {

class Environment {
 public:
  Environment(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* before = ::getenv(name_.c_str())) before_ = before;
    value != nullptr ? ::setenv(name_.c_str(), value, 1) : ::unsetenv(name_.c_str());
  }
  Environment(const Environment&) = delete;  // one owner restores it
  ~Environment() {
    before_ ? ::setenv(name_.c_str(), before_->c_str(), 1) : ::unsetenv(name_.c_str());
  }

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace redline::tests
