// SPDX-License-Identifier: Apache-2.0
// Free blocks by size: powers of two, each size a stack. Sanitizers see every block as their own.
#include "redline/memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <type_traits>

namespace redline {
inline namespace v1 {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kRecycles = false;
#else
constexpr bool kRecycles = true;
#endif

struct Free {  // lies in the block itself
  Free* next;
};

constexpr std::size_t kLeastBytes = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
constexpr std::size_t kSlabBytes = 64 << 10;  // small blocks are made many at a time

class Shelves {
 public:
  void* take(int size_class) {
    const std::lock_guard lock(mutex_);
    if (!shelves_[size_class]) fill(size_class);
    Free* const block = shelves_[size_class];
    shelves_[size_class] = block->next;
    return block;
  }
  void put(void* memory, int size_class) noexcept {
    const std::lock_guard lock(mutex_);
    push(memory, size_class);
  }

 private:
  void fill(int size_class) {
    const std::size_t bytes = std::size_t{1} << size_class;
    const std::size_t count = std::max<std::size_t>(1, kSlabBytes / bytes);
    auto* const slab = static_cast<std::byte*>(::operator new(count * bytes));
    for (std::size_t k = 0; k < count; ++k) push(slab + k * bytes, size_class);
  }
  void push(void* memory, int size_class) noexcept {
    shelves_[size_class] = new (memory) Free{shelves_[size_class]};
  }

  std::mutex mutex_;
  std::array<Free*, 64> shelves_ = {};
};

// Never destroyed: blocks may come back from destructors that run at the end of the program.
Shelves& shelves() {
  static_assert(std::is_trivially_destructible_v<Shelves>);
  static constinit Shelves all;
  return all;
}

int class_of(std::size_t bytes) {
  return static_cast<int>(std::bit_width(std::max(bytes, kLeastBytes) - 1));
}

}  // namespace

void* take_memory(std::size_t bytes) {
  return kRecycles ? shelves().take(class_of(bytes)) : ::operator new(bytes);
}

void return_memory(void* memory, std::size_t bytes) noexcept {
  if (!memory) return;
  if (kRecycles)
    shelves().put(memory, class_of(bytes));
  else
    ::operator delete(memory);
}

}  // namespace v1
}  // namespace redline
