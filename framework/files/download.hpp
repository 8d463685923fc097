// SPDX-License-Identifier: Apache-2.0
// One file from a URL (http, https, file), continued where a part of it already lies.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace redline::files {

using Progress = std::function<void(std::uint64_t done_bytes)>;  // of this file, from its start

// DeviceError: the server does not answer or does not have it. What arrived stays in `partial`.
void download(const std::string& url, const std::filesystem::path& partial,
              std::uint64_t expected_bytes, const Progress& progress);

}  // namespace redline::files
