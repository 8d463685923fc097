// SPDX-License-Identifier: Apache-2.0
// A folder that is gone after the test.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "redline_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;  // it owns the folder
  std::filesystem::path copy(const std::filesystem::path& file, const std::string& as) const {
    std::filesystem::create_directories((path_ / as).parent_path());
    std::filesystem::copy_file(file, path_ / as);
    return path_ / as;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};
