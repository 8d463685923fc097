// SPDX-License-Identifier: Apache-2.0
#include "redline/check.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "check/conformance.hpp"
#include "files/json.hpp"

namespace redline::tool {
namespace {

namespace fs = std::filesystem;
namespace json = files::json;
using redline::check::Answer, redline::check::Result, redline::check::Subject;

bool is_file(const std::string& plugin) {
  return plugin.ends_with(".so") || plugin.find('/') != std::string::npos;
}

std::map<std::string, std::string> parsed(const std::vector<std::string>& values) {
  std::map<std::string, std::string> out;
  for (const std::string& v : values) {
    const auto equals = v.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError("--set " + v + " is no parameter=value");
    if (!out.emplace(v.substr(0, equals), v.substr(equals + 1)).second)
      throw InputError("--set " + v.substr(0, equals) + " was given twice");
  }
  return out;
}

std::vector<plugin::Listing> chosen(const plugin::Registry& registry, const std::string& plugin) {
  if (!is_file(plugin)) return {registry.find(plugin)};
  std::vector<plugin::Listing> all = registry.list();
  std::erase_if(all,
                [&](const plugin::Listing& l) { return !fs::equivalent(l.from.path, plugin); });
  return all;
}

const char* word_for(Answer::Kind kind) {
  switch (kind) {
    case Answer::Kind::PASSED:
      return "passed";
    case Answer::Kind::REFUSED:
      return "refused";
    case Answer::Kind::FAILED:
      return "FAILED";
    default:
      return "NO ANSWER";
  }
}

// What of `values` this plugin takes: a file may hold several.
std::map<std::string, std::string> taken(const std::map<std::string, std::string>& values,
                                         const plugin::Listing& by) {
  std::map<std::string, std::string> out;
  for (const plugin::Parameter& p : by.parameters)
    if (const auto it = values.find(p.name); it != values.end()) out.insert(*it);
  return out;
}

void check_taken(const std::map<std::string, std::string>& values,
                 const std::vector<plugin::Listing>& by) {
  for (const auto& [name, value] : values)
    if (std::none_of(by.begin(), by.end(),
                     [&](const plugin::Listing& l) { return taken(values, l).contains(name); }))
      throw InputError("--set " + name + ": no parameter of what is checked; see redline plugins");
}

std::ptrdiff_t failures(const std::vector<Result>& results) {
  return std::count_if(results.begin(), results.end(), [](const Result& r) { return !r.holds(); });
}

void print_table(const std::vector<Result>& results) {
  std::size_t plugin = 0, check = 0;
  for (const Result& r : results) {
    plugin = std::max(plugin, r.plugin.size());
    check = std::max(check, r.check.size());
  }
  for (const Result& r : results)
    std::printf("%-*s  %-*s  %-9s  %s\n", static_cast<int>(plugin), r.plugin.c_str(),
                static_cast<int>(check), r.check.c_str(), word_for(r.answer.kind),
                r.answer.detail.c_str());
  std::printf("%zu checks, %td failed\n", results.size(), failures(results));
}

void print_json(const std::vector<Result>& results) {
  json::array all;
  for (const Result& r : results)
    all.push_back({{"plugin", r.plugin},
                   {"check", r.check},
                   {"result", word_for(r.answer.kind)},
                   {"holds", r.holds()},
                   {"detail", r.answer.detail}});
  std::printf("%s\n", json::serialize(all).c_str());
}

// A file is opened elsewhere first: opening runs its code.
Result load(const std::string& file) {
  return {file, "loads",
          redline::check::run_apart(
              [&] {
                plugin::Registry alone;
                alone.load(file);
                return std::to_string(alone.list().size()) + " plugins";
              },
              std::chrono::seconds(10))};
}

int on_model(const CheckOptions& options, const std::map<std::string, std::string>& values) {
  const std::vector<fs::path> files(is_file(options.plugin) ? 1 : 0, options.plugin);
  const plugin::Registry registry(files, {});
  const std::vector<plugin::Listing> listings = chosen(registry, options.plugin);
  check_taken(values, listings);
  CheckModelOptions asked = options.on_model;
  asked.json = options.json;
  int code = 0;
  for (const plugin::Listing& l : listings)
    if (code == 0) code = check_model(registry, l, taken(values, l), asked);
  return code;
}

}  // namespace

int check(const CheckOptions& options) {
  const auto values = parsed(options.values);
  std::vector<Result> results;
  if (is_file(options.plugin)) {
    if (!fs::exists(options.plugin))
      throw InputError(options.plugin + " does not exist; name a plugin file or a plugin");
    results.push_back(load(options.plugin));
  }
  if (!options.on_model.model.empty() && (results.empty() || results.front().holds()))
    return on_model(options, values);
  if (results.empty() || results.front().holds()) {
    const std::vector<fs::path> files(results.size(), options.plugin);
    const plugin::Registry registry(files, {});
    const std::vector<plugin::Listing> listings = chosen(registry, options.plugin);
    check_taken(values, listings);
    for (const plugin::Listing& l : listings)
      for (Result& r : examine(Subject(registry, l, taken(values, l))))
        results.push_back(std::move(r));
  }
  options.json ? print_json(results) : print_table(results);
  return failures(results) == 0 ? 0 : 1;
}

}  // namespace redline::tool
