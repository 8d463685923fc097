// SPDX-License-Identifier: Apache-2.0
// Memory, planned before it is used: what each model, its KV pool and the buffers take.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace redline::engine {

struct MemoryItem {
  std::string what;  // "target weights"
  std::int64_t bytes;
};
struct MemoryPlan {
  std::vector<MemoryItem> items;
  std::int64_t total_bytes = 0, available_bytes = 0, limit_bytes = 0;
  bool fits() const { return total_bytes <= limit_bytes; }
  std::string table() const;  // what is printed before loading
};
std::int64_t resident_bytes();          // of this process
std::int64_t available_memory_bytes();  // of this machine and of its control group

}  // namespace redline::engine
