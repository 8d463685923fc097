// SPDX-License-Identifier: Apache-2.0
// The plugins this process knows, by name. Loads through the gates of library.hpp, never unloads.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugin/library.hpp"
#include "plugin/parameters.hpp"
#include "redline/plugin.hpp"

namespace redline::plugin {

struct Listing {
  Kind kind;
  std::string name, about;
  std::vector<Parameter> parameters;
  Provenance from;
};

std::string_view word_for(Kind kind);  // "drafter", "length", "sampler", "rule"

class Registry {
 public:
  Registry() = default;  // knows nothing; for load()
  // Every plugin file of the search path, first hit wins: `files` (--plugin), `folders` (the
  // experiment's plugin_path), REDLINE_PLUGIN_PATH, the install folder. PluginError on a bad file
  // that was named; a bad file found in a folder is a warning in warnings().
  Registry(const std::vector<std::filesystem::path>& files,
           const std::vector<std::filesystem::path>& folders);

  void load(const std::filesystem::path& file);  // PluginError: what, the two facts, the remedy

  // InputError: unknown name (with the known ones and where they were looked for), unknown,
  // mistyped or out-of-range parameter (with `where` and the nearest name).
  template <class T>
  std::unique_ptr<T> make(const std::string& name, const Arguments& arguments, Host& host) const {
    return std::unique_ptr<T>(static_cast<T*>(make(T::kKind, name, arguments, host).release()));
  }
  std::unique_ptr<Plugin> make(Kind, const std::string& name, const Arguments&, Host&) const;
  void check(Kind kind, const std::string& name,
             const Arguments& arguments) const;  // makes nothing
  std::vector<Parameter> effective(Kind kind, const std::string& name,
                                   const Arguments& arguments) const;  // fallback = value in force
  std::vector<Listing> list() const;                                   // by kind, then by name
  const Listing& find(const std::string& name) const;
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Known {
    const Entry* entry;
    Listing listing;
  };
  enum class Twins { REFUSE, WARN };
  void load(const std::filesystem::path& file, Twins twins);
  void load_folder(const std::filesystem::path& folder);
  const Known* lookup(std::string_view name) const;
  const Known& known(const std::string& name) const;
  const Known& known(Kind kind, const std::string& name) const;
  std::vector<Known> known_;
  std::vector<std::string> warnings_;
  std::vector<std::filesystem::path> searched_;
};

}  // namespace redline::plugin
