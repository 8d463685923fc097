// SPDX-License-Identifier: Apache-2.0
// Where plugins lie. Never the working directory, unless someone names it.
#pragma once
#include <filesystem>
#include <vector>

namespace redline::plugin {

// REDLINE_PLUGIN_PATH, split at ':'. InputError for an entry that is not absolute.
std::vector<std::filesystem::path> environment_folders();
// Of the plugins that came with this redline: beside its core library, or in the build tree.
std::filesystem::path install_folder();
// The .so files of a folder, by name.
std::vector<std::filesystem::path> plugin_files(const std::filesystem::path& folder);

}  // namespace redline::plugin
