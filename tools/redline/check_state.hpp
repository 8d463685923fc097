// SPDX-License-Identifier: Apache-2.0
// The file that a long check can go on from: what was asked, beside what was found so far.
#pragma once
#include <chrono>
#include <filesystem>
#include <optional>

#include "config/value.hpp"
#include "redline/check_model.hpp"

namespace redline::tool {

class CheckState {
 public:
  // InputError: a file is there and was not asked for, or it is of another check.
  CheckState(const plugin::Listing& plugin, const std::map<std::string, std::string>& values,
             const CheckModelOptions& options);
  const std::filesystem::path& path() const { return path_; }
  const std::optional<config::Value>& saved() const { return saved_; }
  void save(const config::Value& found);
  bool is_due() const;  // some seconds after the last save
  void finish() const;  // the file goes

 private:
  std::filesystem::path path_;
  config::Value asked_;
  std::optional<config::Value> saved_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace redline::tool
