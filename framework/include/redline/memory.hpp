// SPDX-License-Identifier: Apache-2.0
// Memory of what lives for a step: rows, drafts, lists, states. A block that comes back is handed
// out again, so the memory of a run is that of its widest step, and a warm step asks the system for
// none.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

#include "redline/error.hpp"

namespace redline {
inline namespace v1 {

// [any thread] Aligned as operator new is; `bytes` comes back as it was asked for.
REDLINE_API void* take_memory(std::size_t bytes);
REDLINE_API void return_memory(void* memory, std::size_t bytes) noexcept;

template <class T>
struct Recycling {  // the allocator
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  using value_type = T;
  Recycling() = default;
  template <class U>
  Recycling(const Recycling<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(take_memory(bytes_of(count))); }
  void deallocate(T* memory, std::size_t count) noexcept { return_memory(memory, bytes_of(count)); }
  template <class U>
  bool operator==(const Recycling<U>&) const {
    return true;
  }

 private:
  static constexpr std::size_t bytes_of(std::size_t count) {
    return count * sizeof(T);  // NOLINT(bugprone-sizeof-expression): T may be a pointer
  }
};

template <class T>
using List = std::vector<T, Recycling<T>>;

}  // namespace v1
}  // namespace redline
