// SPDX-License-Identifier: Apache-2.0
// What a run says to its operator: to stderr, and to a file (run.log of its folder) once one is
// opened. A process has one log as it has one stderr, hence functions; results never go through it.
// Any thread may call. (Not `redline::log`: inside redline that would hide the logarithm.)
#pragma once
#include <filesystem>
#include <optional>
#include <string_view>

namespace redline::logging {

enum class Level { kDebug, kInfo, kWarn, kError, kOff };

void debug(std::string_view message);
void info(std::string_view message);
void warn(std::string_view message);
void error(std::string_view message);

// The least severe level that reaches stderr. At start: REDLINE_LOG (debug, info, warn, error,
// off), else warn, so that a quiet run prints its results alone.
void show(Level level);
// From here on every line of level info and above (all of them if stderr shows debug) is appended
// to `path` as well, with its time (UTC); replaces the file before. InputError: it cannot be
// written.
void open_file(const std::filesystem::path& path);
// Closes the file again; lines go to stderr alone.
void close_file();

std::optional<Level> level_named(std::string_view name);

}  // namespace redline::logging
