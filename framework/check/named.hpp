// SPDX-License-Identifier: Apache-2.0
// A pair of laws with the name it is told by.
#pragma once
#include <string>
#include <vector>

#include "check/enumeration.hpp"

namespace redline::check {

struct Named {
  std::string name;
  Pair tables;
};

}  // namespace redline::check
