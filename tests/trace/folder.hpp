// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own, gone with it.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace redline::trace::synthetic {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "redline-trace-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;  // owns the files
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace redline::trace::synthetic
