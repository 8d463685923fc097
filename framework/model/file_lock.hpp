// SPDX-License-Identifier: Apache-2.0
// Holds an advisory lock on a file of its own while it lives, so that one process packs and the
// others wait. Where locks do not work nothing is locked: then each packs for itself.
#pragma once
#include <filesystem>

namespace redline::model {

class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;  // holds a descriptor

 private:
  int descriptor_;
};

}  // namespace redline::model
