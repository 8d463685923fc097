// SPDX-License-Identifier: Apache-2.0
// The one file that sees Boost.DLL, which costs seconds to compile.
#include "plugin/library.hpp"

#define BOOST_DLL_USE_STD_FS
#include <cxxabi.h>

#include <algorithm>
#include <boost/dll/library_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <memory>
#include <vector>

#include "plugin/digest.hpp"

namespace redline::plugin {
namespace {

namespace dll = boost::dll;
namespace fs = std::filesystem;

constexpr const char* kEntry = "redline_plugin_v1";  // what REDLINE_PLUGIN defines

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw PluginError(file.string() + ": " + why);
}

void check_file(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) refuse(file, "no such file; give the path of a plugin's .so");
  if (!fs::is_regular_file(status)) refuse(file, "is no regular file; give the path of a .so");
  if ((status.permissions() & fs::perms::others_write) != fs::perms::none)
    refuse(file,
           "anyone may write to it, and opening it runs its code with your rights; "
           "run chmod o-w on it");
}

// Gate 1. Nothing of the file has run yet.
void check_symbols(const fs::path& file) {
  std::vector<std::string> shown;
  try {
    shown = dll::library_info(file).symbols("redline");
  } catch (const std::exception&) {
    refuse(file, "is not a shared library; give the .so that redline_add_plugin builds");
  }
  if (std::find(shown.begin(), shown.end(), kEntry) != shown.end()) return;
  if (shown.empty())
    refuse(file, std::string("is a shared library but shows no ") + kEntry +
                     ": no plugin; end its source with REDLINE_PLUGIN(...)");
  refuse(file, "offers " + shown.front() + ", this redline wants " + kEntry +
                   ": built against another version; rebuild it against this install");
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : symbol;
}

// Gate 2. A stale type is a symbol that this core does not define.
dll::shared_library open_file(const fs::path& file) {
  try {
    return dll::shared_library(file, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  } catch (const std::exception& e) {
    const std::string cause = e.what(), mark = "undefined symbol: ";
    const auto at = cause.find(mark);
    if (at == std::string::npos) refuse(file, "cannot be opened: " + cause);
    const auto begin = at + mark.size();
    const auto end = cause.find_first_of(" ,)\n", begin);
    refuse(file, "needs " + demangled(cause.substr(begin, end - begin)) +
                     ", which this redline does not have: built against other types; "
                     "rebuild it against this install");
  }
}

// Gate 3.
void check_manifest(const fs::path& file, const Manifest& manifest) {
  const BuildTag here;
  if (!(manifest.tag == here))
    refuse(file, "was built with " + text_of(manifest.tag) + "; this redline with " +
                     text_of(here) + "; rebuild it against this install");
  for (const Entry& e : manifest.entries)
    if (e.name.empty() || !e.describe || !e.make || e.kind > Kind::RULE)
      refuse(file, "entry '" + std::string(e.name) +
                       "' is not whole; make entries with redline::entry<T>(name, about)");
}

}  // namespace

std::string text_of(const BuildTag& tag) {
  return "api " + std::to_string(tag.api) + ", gcc " + std::to_string(tag.compiler) +
         ", string abi " + std::to_string(tag.string_abi) + ", debug iterators " +
         std::to_string(tag.debug_iterators);
}

Library open_library(const fs::path& file) {
  const fs::path path = fs::absolute(file).lexically_normal();
  check_file(path);
  check_symbols(path);
  // A process-wide list that nothing empties, not even the end of the program.
  static auto& opened = *new std::vector<dll::shared_library>;
  opened.push_back(open_file(path));
  const Manifest& manifest = *opened.back().get<const Manifest*>(kEntry);
  check_manifest(path, manifest);
  return {manifest.entries, {path, sha256_of(path), text_of(manifest.tag)}};
}

}  // namespace redline::plugin
