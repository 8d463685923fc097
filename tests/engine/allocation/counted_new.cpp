// SPDX-License-Identifier: Apache-2.0
#include "engine/allocation/counted_new.hpp"

#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <new>

namespace {

constexpr int kDepth = 24, kPlaces = 64;

struct Place {
  std::array<void*, kDepth> frames;
  int depth;
  std::int64_t count;
};

std::atomic<bool> counting{false};
std::atomic<tests::ThreadId> exempt_thread{0};
std::atomic<std::int64_t> num_allocations{0}, num_bytes{0};
std::atomic_flag listing = ATOMIC_FLAG_INIT;
std::array<Place, kPlaces> places;
int num_places = 0;

void note_place() {
  while (listing.test_and_set(std::memory_order_acquire)) {
  }
  Place here{{}, 0, 1};
  here.depth = ::backtrace(here.frames.data(), kDepth);
  const auto end = places.begin() + num_places;
  const auto same = std::find_if(places.begin(), end, [&](const Place& place) {
    return place.depth == here.depth && place.frames == here.frames;
  });
  if (same != end)
    ++same->count;
  else if (num_places < kPlaces)
    places[num_places++] = here;
  listing.clear(std::memory_order_release);
}

void note(std::size_t size) {
  if (!counting.load(std::memory_order_relaxed)) return;
  thread_local const auto self = static_cast<tests::ThreadId>(::syscall(SYS_gettid));
  if (self == exempt_thread.load(std::memory_order_relaxed)) return;
  ++num_allocations;
  num_bytes += static_cast<std::int64_t>(size);
  note_place();
}

void* allocate(std::size_t size, std::size_t alignment) {
  note(size);
  if (alignment <= alignof(std::max_align_t)) return std::malloc(std::max<std::size_t>(size, 1));
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* const memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// The other forms call these.
void* operator new(std::size_t size) { return allocate_or_throw(size, 1); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tests {

NewCount::NewCount(ThreadId exempt) {
  std::array<void*, kDepth> frames;
  ::backtrace(frames.data(), kDepth);  // loads what it needs, once
  exempt_thread = exempt;
  num_allocations = num_bytes = 0;
  num_places = 0;
  counting = true;
}
NewCount::~NewCount() { counting = false; }

std::int64_t NewCount::allocations() const { return num_allocations; }
std::int64_t NewCount::bytes() const { return num_bytes; }

void NewCount::print_places() const {
  counting = false;
  std::sort(places.begin(), places.begin() + num_places,
            [](const Place& a, const Place& b) { return a.count > b.count; });
  for (int k = 0; k < num_places; ++k) {
    ::dprintf(STDERR_FILENO, "%lld times:\n", static_cast<long long>(places[k].count));
    ::backtrace_symbols_fd(places[k].frames.data(), places[k].depth, STDERR_FILENO);
  }
}

std::set<ThreadId> threads_of_process() {
  std::set<ThreadId> ids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ids.insert(std::stoi(entry.path().filename().string()));
  return ids;
}

}  // namespace tests
