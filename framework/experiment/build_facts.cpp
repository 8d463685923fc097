// SPDX-License-Identifier: Apache-2.0
#include "experiment/build_facts.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "files/sha256.hpp"
#include "redline/kernels/isa.hpp"

namespace redline::experiment {

extern const char* const kGitSha;  // git_state.cpp, written at every build
extern const bool kGitDirty;

namespace {

using config::Value;

// The first line of a /proc file that starts with `key`, from `mark` on.
std::string line_of(const char* file, std::string_view key, std::string_view mark) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find(mark);
    if (line.find(key) != std::string::npos && at != std::string::npos) return line.substr(at);
  }
  return "";
}

}  // namespace

std::string build_sha256() {
  files::Sha256 hash;
  hash.add(files::sha256_file("/proc/self/exe"));
  const std::string core = line_of("/proc/self/maps", "/libredline.so", "/");
  if (!core.empty()) hash.add(files::sha256_file(core));
  return hash.hex();
}

Value build_facts() {
  Value facts = Value::map();
  facts.put("version", Value::of(REDLINE_VERSION)).put("git_sha", Value::of(kGitSha));
  facts.put("git_dirty", Value::of(kGitDirty));
  facts.put("compiler", Value::of("g++ " __VERSION__)).put("flags", Value::of(REDLINE_FLAGS));
  facts.put("build_type", Value::of(REDLINE_BUILD_TYPE));
  facts.put("sanitizers", Value::of(REDLINE_SANITIZERS));
  return facts.put("sha256", Value::of(build_sha256()));
}

Value machine_facts() {
  const std::string model = line_of("/proc/cpuinfo", "model name", ":");
  utsname system{};
  ::uname(&system);
  Value facts = Value::map();
  facts.put("cpu", Value::of(model.size() > 2 ? model.substr(2) : "unknown"));
  facts.put("cores", Value::of(std::thread::hardware_concurrency()));
  facts.put("memory_bytes", Value::of(::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE)));
  facts.put("isa", Value::of(kernels::name(kernels::best())));
  return facts.put("kernel", Value::of(system.release));
}

}  // namespace redline::experiment
