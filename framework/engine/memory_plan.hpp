// SPDX-License-Identifier: Apache-2.0
// Memory, planned before it is used: what each model, its KV pool and the buffers take.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/decoder.hpp"

namespace redline::engine {

struct MemoryItem {
  std::string what;  // "target weights"
  std::int64_t bytes;
};
struct MemoryPlan {
  std::vector<MemoryItem> items;
  std::int32_t pages = 0;  // of each pool
  std::int64_t total_bytes = 0, available_bytes = 0, limit_bytes = 0;
  bool fits() const { return total_bytes <= limit_bytes; }
  std::string table() const;  // what is printed before loading
};
std::int64_t resident_bytes();  // of this process

struct ModelNeed {  // of a model on one rank
  std::string who;  // "target on rank 3"
  model::MemoryNeed need;
};
struct PageWish {
  std::int32_t fixed, least, wanted;  // fixed: 0 for as many as fit, from least to wanted
};
// Pages of target and drafts run out together: each pool has as many. All ranks are on this
// machine.
MemoryPlan plan_of(const std::vector<ModelNeed>& models, const PageWish& wish,
                   std::int64_t other_bytes, double utilization);

std::int64_t available_memory_bytes();  // of this machine and of its control group

}  // namespace redline::engine
