// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_plan.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace redline::engine {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// "MemAvailable:   123 kB" of /proc/meminfo.
std::int64_t machine_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string key, unit; file >> key;) {
    std::int64_t kib = 0;
    file >> kib;
    std::getline(file, unit);
    if (key == "MemAvailable:") return kib * 1024;
  }
  return kUnlimited;
}

std::optional<std::int64_t> number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;  // absent, or "max"
}

// What the control group (version 2) still allows; its page cache can be taken back.
std::int64_t group_bytes() {
  std::ifstream self("/proc/self/cgroup");
  std::string line;
  while (std::getline(self, line) && line.rfind("0::", 0) != 0) line.clear();
  if (line.empty()) return kUnlimited;
  std::int64_t least = kUnlimited;
  const std::filesystem::path top = "/sys/fs/cgroup";
  for (std::filesystem::path at = top / line.substr(4);; at = at.parent_path()) {
    const auto limit = number_in(at / "memory.max"), used = number_in(at / "memory.current");
    if (limit && used) {
      std::int64_t cached = 0;
      std::ifstream stat(at / "memory.stat");
      std::string key;
      for (std::int64_t value = 0; stat >> key >> value;)
        if (key == "inactive_file" || key == "active_file") cached += value;
      least = std::min(least, *limit - *used + cached);
    }
    if (at == top || !at.has_parent_path() || at == at.parent_path()) return least;
  }
}

std::string mebibytes(std::int64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%10.1f MiB",
                static_cast<double>(bytes) / (1024.0 * 1024.0));
  return text.data();
}

}  // namespace

std::int64_t available_memory_bytes() { return std::min(machine_bytes(), group_bytes()); }

std::int64_t resident_bytes() {
  // Asked for while the engine runs: by system calls alone, which allocate nothing.
  std::array<char, 128> text{};
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  long long size = 0, resident = 0;  // in pages
  if (length <= 0 || std::sscanf(text.data(), "%lld %lld", &size, &resident) != 2) return 0;
  return resident * ::sysconf(_SC_PAGESIZE);
}

MemoryPlan plan_of(const std::vector<ModelNeed>& models, const PageWish& wish,
                   std::int64_t other_bytes, double utilization) {
  std::int64_t fixed_bytes = other_bytes, page_bytes = 0;
  for (const ModelNeed& model : models) {
    fixed_bytes += model.need.weights + model.need.activations;
    page_bytes += model.need.kv.page_bytes();
  }
  MemoryPlan plan;
  plan.available_bytes = available_memory_bytes();
  plan.limit_bytes =
      static_cast<std::int64_t>(static_cast<double>(plan.available_bytes) * utilization);
  const std::int64_t fit = (plan.limit_bytes - fixed_bytes) / page_bytes;
  plan.pages =
      wish.fixed > 0
          ? wish.fixed
          : static_cast<std::int32_t>(std::clamp<std::int64_t>(fit, wish.least, wish.wanted));
  for (const ModelNeed& model : models) {
    plan.items.push_back({model.who + " weights", model.need.weights});
    plan.items.push_back({model.who + " KV, " + std::to_string(plan.pages) + " pages of 16",
                          plan.pages * model.need.kv.page_bytes()});
    plan.items.push_back({model.who + " activations", model.need.activations});
  }
  plan.items.push_back({"trace queue", other_bytes});
  for (const MemoryItem& item : plan.items) plan.total_bytes += item.bytes;
  return plan;
}

std::string MemoryPlan::table() const {
  std::ostringstream out;
  const auto line = [&out](const std::string& what, std::int64_t bytes) {
    out << "  " << what << std::string(what.size() < 34 ? 34 - what.size() : 1, ' ')
        << mebibytes(bytes) << "\n";
  };
  out << "memory\n";
  for (const MemoryItem& item : items) line(item.what, item.bytes);
  line("total", total_bytes);
  line("available on this machine", available_bytes);
  line("allowed (memory_utilization)", limit_bytes);
  return out.str();
}

}  // namespace redline::engine
