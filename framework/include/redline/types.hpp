// SPDX-License-Identifier: Apache-2.0
// The words every other header uses. Standard library only, as all of include/redline.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "redline/memory.hpp"

namespace redline {
inline namespace v1 {

using Token = std::int32_t;
using Node = std::int32_t;        // index into a Draft
inline constexpr Node kRoot = 0;  // the last committed token
inline constexpr Node kNone = -1;

// What a plugin remembers about one sequence. The host owns it; its destructor is the `end` event.
// Samplers' states come and go with every drafted node: their memory is recycled.
class REDLINE_API State {
 public:
  virtual ~State();
  static void* operator new(std::size_t bytes) { return take_memory(bytes); }
  static void operator delete(void* memory, std::size_t bytes) { return_memory(memory, bytes); }
  static void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return ::operator new(bytes, alignment);
  }
  static void operator delete(void* memory, std::size_t, std::align_val_t alignment) {
    ::operator delete(memory, alignment);
  }
};

enum class Kind : std::uint8_t { DRAFTER, LENGTH, SAMPLER, RULE };

// One instance an engine, all calls from its one thread: authors need no locks.
class REDLINE_API Plugin {
 public:
  virtual ~Plugin();
  const std::string& name() const { return name_; }
  void name_as(std::string name) { name_ = std::move(name); }  // [before start] by the registry

 private:
  std::string name_ = "unnamed";
};

}  // namespace v1
}  // namespace redline
