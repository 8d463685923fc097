// SPDX-License-Identifier: Apache-2.0
// The only file that sees spdlog: its headers cost seconds wherever they are included.
#include "log/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "redline/error.hpp"

namespace redline::logging {
namespace {

struct Named {
  std::string_view name;
  Level level;
  spdlog::level::level_enum theirs;
};
constexpr std::array kLevels{Named{"debug", Level::kDebug, spdlog::level::debug},
                             Named{"info", Level::kInfo, spdlog::level::info},
                             Named{"warn", Level::kWarn, spdlog::level::warn},
                             Named{"error", Level::kError, spdlog::level::err},
                             Named{"off", Level::kOff, spdlog::level::off}};

spdlog::level::level_enum theirs(Level level) {
  return std::ranges::find(kLevels, level, &Named::level)->theirs;
}

std::unique_ptr<spdlog::formatter> pattern(const char* text, spdlog::pattern_time_type time) {
  return std::make_unique<spdlog::pattern_formatter>(text, time);
}

// One logger over a list of sinks that may change while other threads write.
class Log {
 public:
  Log()
      : stderr_(std::make_shared<spdlog::sinks::stderr_sink_mt>()),
        sinks_(std::make_shared<spdlog::sinks::dist_sink_mt>()),
        logger_("redline", sinks_) {
    stderr_->set_formatter(pattern("redline: %l: %v", spdlog::pattern_time_type::local));
    sinks_->add_sink(stderr_);
    logger_.set_level(spdlog::level::debug);  // each sink has its own
    logger_.flush_on(spdlog::level::info);    // a killed run leaves its last line
    show(Level::kWarn);
    start_from_environment();
  }

  void write(Level level, std::string_view message) {
    logger_.log(theirs(level), spdlog::string_view_t(message.data(), message.size()));
  }

  void show(Level level) {
    const std::scoped_lock lock(mutex_);
    stderr_->set_level(theirs(level));
    if (file_) file_->set_level(file_level());
  }

  void set_file(std::shared_ptr<spdlog::sinks::sink> file) {
    const std::scoped_lock lock(mutex_);
    if (file_) sinks_->remove_sink(file_);
    file_ = std::move(file);
    if (!file_) return;
    file_->set_formatter(pattern("%Y-%m-%dT%H:%M:%S.%eZ %l: %v", spdlog::pattern_time_type::utc));
    file_->set_level(file_level());
    sinks_->add_sink(file_);
  }

 private:
  void start_from_environment() {
    const char* wanted = std::getenv("REDLINE_LOG");
    if (wanted == nullptr || *wanted == '\0') return;
    if (const auto level = level_named(wanted)) {
      show(*level);
    } else {
      write(Level::kWarn, "REDLINE_LOG is '" + std::string(wanted) +
                              "', none of debug, info, warn, error, off; showing warn and above");
    }
  }

  spdlog::level::level_enum file_level() const {
    return std::min(stderr_->level(), spdlog::level::info);
  }

  std::mutex mutex_;  // file_
  std::shared_ptr<spdlog::sinks::sink> stderr_, file_;
  std::shared_ptr<spdlog::sinks::dist_sink_mt> sinks_;
  spdlog::logger logger_;
};

Log& the_log() {
  static Log log;
  return log;
}

}  // namespace

void debug(std::string_view message) { the_log().write(Level::kDebug, message); }
void info(std::string_view message) { the_log().write(Level::kInfo, message); }
void warn(std::string_view message) { the_log().write(Level::kWarn, message); }
void error(std::string_view message) { the_log().write(Level::kError, message); }

void show(Level level) { the_log().show(level); }

void open_file(const std::filesystem::path& path) {
  try {
    the_log().set_file(std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string()));
  } catch (const spdlog::spdlog_ex& e) {
    throw InputError("cannot write the log file " + path.string() + ": " + e.what() +
                     "; give a folder that can be written to");
  }
}

void close_file() { the_log().set_file(nullptr); }

std::optional<Level> level_named(std::string_view name) {
  const auto found = std::ranges::find(kLevels, name, &Named::name);
  if (found == kLevels.end()) return std::nullopt;
  return found->level;
}

}  // namespace redline::logging
