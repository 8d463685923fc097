// SPDX-License-Identifier: Apache-2.0
#include "redline/check.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "check/conformance.hpp"
#include "check/vector_file.hpp"
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
  for (const Result& r : results) {
    json::object row{{"plugin", r.plugin},
                     {"check", r.check},
                     {"result", word_for(r.answer.kind)},
                     {"holds", r.holds()},
                     {"detail", r.answer.detail}};
    if (!r.figures.empty()) row["kept"] = files::parse_json(r.figures, r.check);
    all.push_back(std::move(row));
  }
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

// The full suite says where it is: a check of it may take a minute.
redline::check::Examination examination(const CheckOptions& options) {
  redline::check::Examination how;
  if (!options.full) return how;
  how.effort = redline::check::Effort::FULL;
  how.limit = std::chrono::minutes(20);
  how.on_start = [](const std::string& check) { std::fprintf(stderr, "%s ...\n", check.c_str()); };
  return how;
}

int on_model(const CheckOptions& options, const std::map<std::string, std::string>& values) {
  const std::vector<fs::path> files(is_file(options.plugin) ? 1 : 0, options.plugin);
  const plugin::Registry registry(files, {});
  const std::vector<plugin::Listing> listings = chosen(registry, options.plugin);
  check_taken(values, listings);
  CheckModelOptions asked = options.on_model;
  asked.json = options.json;
  int code = 0;
  for (const plugin::Listing& l : listings)  // all of them, but for Ctrl-C
    if (code <= 1) code = std::max(code, check_model(registry, l, taken(values, l), asked));
  return code;
}

// A row for each vector and shape, its law in the JSON alone.
class VectorTable {
 public:
  void add(const std::string& plugin, const std::string& vector, const Answer& answer) {
    json::object row{{"plugin", plugin}, {"vector", vector}, {"result", word_for(answer.kind)}};
    if (answer.kind != Answer::Kind::PASSED) {
      row["fault"] = answer.detail;
      if (answer.kind != Answer::Kind::REFUSED) ++failed_;
    } else {
      const json::value said = files::parse_json(answer.detail, vector);
      for (const auto& field : said.as_object()) row[field.key()] = field.value();
      if (!row["fault"].as_string().empty()) ++failed_, row["result"] = "FAILED";
    }
    rows_.push_back(std::move(row));
  }
  bool print(bool as_json) const {
    if (as_json) return std::printf("%s\n", json::serialize(rows_).c_str()), failed_ == 0;
    std::printf("%-20s  %-16s  %-8s  %9s  %11s  %8s  %9s  %s\n", "plugin", "vector, shape",
                "result", "kept", "closed form", "at best", "TV", "violated");
    for (const json::value& row : rows_) print_row(row.as_object());
    std::printf("%zu vectors, %d failed\n", rows_.size(), failed_);
    return failed_ == 0;
  }

 private:
  static std::string number(const json::object& row, const char* name) {
    const json::value* x = row.if_contains(name);
    if (!x || x->is_null()) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", x->to_number<double>());
    return text;
  }
  static void print_row(const json::object& row) {
    std::printf("%-20s  %-16s  %-8s  %9s  %11s  %8s  %9s  %s\n",
                row.at("plugin").as_string().c_str(), row.at("vector").as_string().c_str(),
                row.at("result").as_string().c_str(), number(row, "accepted").c_str(),
                number(row, "closed_form").c_str(), number(row, "at_best").c_str(),
                number(row, "joint_tv").c_str(), row.at("fault").as_string().c_str());
  }
  json::array rows_;
  int failed_ = 0;
};

int check_vectors(const plugin::Registry& registry, const std::vector<plugin::Listing>& listings,
                  const std::map<std::string, std::string>& values, const CheckOptions& options) {
  const auto cases = redline::check::load_vectors(options.vectors);
  const auto limit = examination(options).limit;
  VectorTable table;
  for (const plugin::Listing& l : listings) {
    const Subject subject(registry, l, taken(values, l));
    for (const auto& vector : vector_checks(subject, cases))
      table.add(l.name, vector.name,
                redline::check::run_apart([&] { return vector.run().text; }, limit));
  }
  return table.print(options.json) ? 0 : 1;
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
    const redline::check::Examination how = examination(options);
    if (!options.vectors.empty()) return check_vectors(registry, listings, values, options);
    for (const plugin::Listing& l : listings)
      for (Result& r : examine(Subject(registry, l, taken(values, l)), how))
        results.push_back(std::move(r));
  }
  options.json ? print_json(results) : print_table(results);
  return failures(results) == 0 ? 0 : 1;
}

}  // namespace redline::tool
