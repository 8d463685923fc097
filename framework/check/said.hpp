// SPDX-License-Identifier: Apache-2.0
// What a check has to say when it passes: words for the table and, of some, figures for the JSON.
#pragma once
#include <string>
#include <utility>

#include "config/value.hpp"

namespace redline::check {

struct Said {
  Said(std::string words, config::Value its_figures = {})  // implicit: most checks have words alone
      : text(std::move(words)), figures(std::move(its_figures)) {}
  std::string text;
  config::Value figures;
};

}  // namespace redline::check
