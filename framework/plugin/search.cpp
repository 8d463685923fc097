// SPDX-License-Identifier: Apache-2.0
#include "plugin/search.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "redline/plugin.hpp"

namespace redline::plugin {
namespace fs = std::filesystem;

std::vector<fs::path> environment_folders() {
  const char* value = std::getenv("REDLINE_PLUGIN_PATH");
  std::vector<fs::path> folders;
  for (std::string_view rest = value ? value : ""; !rest.empty();) {
    const auto colon = std::min(rest.find(':'), rest.size());
    const fs::path folder = rest.substr(0, colon);
    rest.remove_prefix(std::min(colon + 1, rest.size()));
    if (folder.empty()) continue;
    if (!folder.is_absolute())
      throw InputError("REDLINE_PLUGIN_PATH: '" + folder.string() +
                       "' depends on the working directory; write an absolute path");
    folders.push_back(folder);
  }
  return folders;
}

fs::path install_folder() {
  Dl_info core{};
  dladdr(reinterpret_cast<const void*>(&path_mass), &core);
  const fs::path beside = fs::weakly_canonical(core.dli_fname ? core.dli_fname : "").parent_path();
  if (beside == fs::weakly_canonical(REDLINE_BUILD_LIBRARIES)) return REDLINE_BUILD_PLUGINS;
  return beside / "redline" / "plugins-v1";
}

std::vector<fs::path> plugin_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& item : fs::directory_iterator(folder))
    if (item.path().extension() == ".so") files.push_back(item.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace redline::plugin
