// SPDX-License-Identifier: Apache-2.0
// A folder of this process, gone with it.
#pragma once
#include <filesystem>
#include <string>

namespace redline::tool {

class ScratchFolder {
 public:
  ScratchFolder();  // DeviceError: none can be made
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;  // it owns the folder
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace redline::tool
