// SPDX-License-Identifier: Apache-2.0
// A check in a process of its own: a plugin that crashes or never answers fails that check alone.
#pragma once
#include <chrono>
#include <functional>
#include <string>

#include "redline/error.hpp"

namespace redline::check {

// What a check throws when the plugin refuses, in its own words, all that the check asks of it.
class Refusal : public Error {
 public:
  using Error::Error;
};

// Why a rule refuses a draft: an Error of its own that begins with its name, as a user would read
// it. Empty for any other fault, such as noise put to a wrong use or a chance above 1.
std::string refusal(const PluginError& fault, const std::string& rule);

struct Answer {
  enum class Kind : std::uint8_t { PASSED, REFUSED, FAILED, TIMED_OUT } kind;
  std::string detail;  // what the check says when it passes, why it failed otherwise
};

// The check returns what there is to say, or throws what is wrong. Call it from one thread.
Answer run_apart(const std::function<std::string()>& check, std::chrono::milliseconds limit);

}  // namespace redline::check
