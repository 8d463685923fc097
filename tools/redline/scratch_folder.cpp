// SPDX-License-Identifier: Apache-2.0
#include "redline/scratch_folder.hpp"

#include <cstdlib>

#include "redline/error.hpp"

namespace redline::tool {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "redline-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw DeviceError("cannot make a folder in " + fs::temp_directory_path().string());
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace redline::tool
