// SPDX-License-Identifier: Apache-2.0
// SHA-256 of a file, in lower-case hex.
#pragma once
#include <filesystem>
#include <string>

namespace redline::plugin {

std::string sha256_of(const std::filesystem::path& file);  // PluginError: cannot be read

}  // namespace redline::plugin
