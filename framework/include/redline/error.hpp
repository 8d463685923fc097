// SPDX-License-Identifier: Apache-2.0
// What redline throws. A message says what happened, the two facts that disagree, and the remedy.
// The type decides the exit code of the program.
#pragma once
#include <stdexcept>
#include <string>

#define REDLINE_API __attribute__((visibility("default")))

namespace redline {
inline namespace v1 {

class REDLINE_API Error : public std::runtime_error {  // exit 1: a check failed
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;  // key function: one typeinfo for program and plugins
};
class REDLINE_API InputError : public Error {  // exit 2: the user's file, flag or request
 public:
  using Error::Error;
  ~InputError() override;
};
class REDLINE_API PluginError : public Error {  // exit 3: a plugin broke its contract or threw
 public:
  using Error::Error;
  ~PluginError() override;
};
class REDLINE_API DeviceError : public Error {  // exit 4: the device or machine
 public:
  using Error::Error;
  ~DeviceError() override;
};

}  // namespace v1
}  // namespace redline
