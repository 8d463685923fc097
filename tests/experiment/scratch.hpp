// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own, gone at its end.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "redline-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) root_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Scratch(const Scratch&) = delete;  // owns the folder
  std::filesystem::path operator/(const std::string& name) const { return root_ / name; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name, std::ios::binary) << text;
    return root_ / name;
  }

 private:
  std::filesystem::path root_;
};
