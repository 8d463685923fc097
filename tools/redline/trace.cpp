// SPDX-License-Identifier: Apache-2.0
#include "redline/trace.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <iostream>

#include "config/value.hpp"
#include "redline/trace_csv.hpp"
#include "trace/check.hpp"
#include "trace/schema.hpp"

namespace redline::tool {
namespace {

using config::Value;
using trace::Reader;

// A file from elsewhere may crash the HDF5 library: that must end a child, and be said.
int in_child(const std::filesystem::path& path, const std::function<int()>& action) {
  std::fflush(nullptr), std::cout.flush();
  const pid_t child = fork();
  if (child < 0) throw Error("trace: no process can be started to read " + path.string());
  if (child == 0) {
    int code = 1;
    try {
      code = action();
    } catch (const InputError& e) {
      std::fprintf(stderr, "redline: %s\n", e.what()), code = 2;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "redline: %s\n", e.what());
    }
    std::cout.flush(), std::fflush(nullptr);
    _exit(code);  // no destructors of the parent's objects
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  if (signal == SIGPIPE || signal == SIGINT || signal == SIGTERM) return 128 + signal;
  throw InputError("trace " + path.string() + ": reading it crashed HDF5 (signal " +
                   std::to_string(signal) + "): the file is damaged or hostile");
}

bool is_bookkeeping(const std::string& name) {
  return name.starts_with("encoding-") || name == "description" || name == "column-order";
}

Value facts_of(const Reader& file, const std::string& group) {
  Value out = Value::map();
  for (const auto& [name, value] : file.attributes(group))
    if (!is_bookkeeping(name)) out.put(name, Value::of(value));
  return out;
}

Value description_of(const Reader& file) {
  Value out = Value::map();
  out.put("file", Value::of(file.path().string()));
  out.put("bytes", Value::of(std::filesystem::file_size(file.path())));
  for (auto& [name, value] : facts_of(file, "/").fields) out.put(name, value);
  for (const std::string group : {"models", "plugins"}) {
    Value members = Value::map();
    for (const std::string& name : file.groups("/" + group))
      members.put(name, facts_of(file, "/" + group + "/" + name));
    out.put(group, std::move(members));
  }
  out.put("dataset", facts_of(file, "/dataset"));
  Value tables = Value::map();
  for (const std::string& table : file.tables()) {
    Value size = Value::map();
    size.put("rows", Value::of(file.rows(table)));
    size.put("columns", Value::of(file.columns(table).size()));
    tables.put(table, std::move(size));
  }
  return out.put("tables", std::move(tables));
}

std::string text_of(const Value& facts, const std::string& name) {
  const Value* found = facts.find(name);
  return found ? found->scalar : "";
}

void print(const Value& facts) {
  const auto text = [&](const char* name) { return text_of(facts, name); };
  std::cout << text("file") << "\n  " << text("state") << ", level " << text("level") << ", "
            << text("bytes") << " bytes, cell " << text("cell") << ", attempt " << text("attempt")
            << ", run " << text("run_id") << ", " << text("created_utc") << ", format "
            << text("format_version_text") << '\n';
  for (const char* group : {"models", "plugins"})
    for (const auto& [slot, member] : facts.find(group)->fields) {
      std::cout << "  " << group << '/' << slot << ": " << text_of(member, "name");
      const std::string sha256 = text_of(member, "sha256");
      std::cout << (sha256.empty() ? "" : "  sha256 " + sha256.substr(0, 12)) << '\n';
    }
  for (const auto& [table, size] : facts.find("tables")->fields)
    std::printf("  %-20s %10s rows  %3s columns\n", table.c_str(), text_of(size, "rows").c_str(),
                text_of(size, "columns").c_str());
}

int info(const TraceOptions& options) {
  std::cout << std::unitbuf;  // beside printf
  Value all = Value::list_of({});
  for (const auto& path : trace::trace_files(options.path)) {
    all.items.push_back(description_of(Reader(path)));
    if (!options.json) print(all.items.back());
  }
  if (options.json) std::cout << config::to_pretty_json(all) << '\n';
  return 0;
}

int check_file(const std::filesystem::path& path) {
  const Reader file(path);
  const trace::CheckResult result = trace::check(file);
  std::cout << path.string() << ": " << result.requests << " requests, " << result.steps
            << " steps, "
            << (file.complete() ? "complete" : "open (running, or its writer was killed)");
  if (result.unfinished_steps > 0)
    std::cout << ", " << result.unfinished_steps << " steps of unfinished requests";
  std::cout << (result.violation_count == 0 ? ": every rule holds\n" : "\n");
  for (const std::string& violation : result.violations)
    std::cout << "  broken: " << violation << '\n';
  if (result.violation_count > result.violations.size())
    std::cout << "  " << result.violation_count << " violations in all\n";
  return result.violation_count == 0 ? 0 : 1;
}

int check(const TraceOptions& options) {
  int worst = 0;  // one process a file: a damaged one must not hide the others
  for (const auto& path : trace::trace_files(options.path))
    worst = std::max(worst, in_child(path, [&] { return check_file(path); }));
  return worst;
}

}  // namespace

int trace(const TraceOptions& options) {
  switch (options.action) {
    case TraceOptions::Action::INFO:
      return in_child(options.path, [&] { return info(options); });
    case TraceOptions::Action::CHECK:
      return check(options);
    case TraceOptions::Action::EXPORT:
      return in_child(options.path,
                      [&] { return export_csv(options.path, options.table, options.csv); });
    case TraceOptions::Action::SCHEMA:
      std::cout << trace::schema::markdown();
      return 0;
  }
  return 1;
}

}  // namespace redline::tool
