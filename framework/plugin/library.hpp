// SPDX-License-Identifier: Apache-2.0
// A plugin file, opened through three gates and never closed: objects, exceptions and types that
// came from it may outlive any use one could count.
#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "redline/plugin.hpp"

namespace redline::plugin {

struct Provenance {
  std::filesystem::path path;  // absolute
  std::string sha256, build_tag;
};

struct Library {
  std::span<const Entry> entries;
  Provenance from;
};

// PluginError, naming the file, the two facts that disagree and the remedy:
// - missing, not a regular file, or writable by everyone;
// - before opening: its symbol list shows no entry of this API version;
// - on opening: it needs types this core does not have;
// - after: its build tag differs, or an entry is not whole.
Library open_library(const std::filesystem::path& file);

std::string text_of(const BuildTag& tag);  // "api 1, gcc 12, string abi 1, debug iterators 0"

}  // namespace redline::plugin
