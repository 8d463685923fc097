// SPDX-License-Identifier: Apache-2.0
// What lies where in the shared memory of an exchange; README.md is the specification. All numbers
// are little-endian, as on every machine redline runs on.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace piped {

static_assert(std::endian::native == std::endian::little);

enum Mode : std::int32_t { DELTA = 0, ROW = 1 };

struct Header {  // at 0
  char magic[8] = {'r', 'e', 'd', 'p', 'i', 'p', 'e', '1'};
  Mode mode = DELTA;
  std::int32_t vocab = 0;
  std::int32_t asks = 0;
  std::int32_t ended = 0;       // requests that ended since the exchange before
  std::int64_t ended_at = 0;    // int64[ended], their ids
  std::int64_t counts_at = 0;   // int32[asks], to be written by the process
  std::int64_t payload_at = 0;  // `stride` bytes an ask, likewise
  std::int64_t stride = 0;
  std::int64_t bytes = 0;  // of all this: map again what is longer than your map
};
static_assert(sizeof(Header) == 64 && offsetof(Header, ended_at) == 24);

struct Ask {  // from sizeof(Header), one after the other
  std::int64_t sequence = 0;
  std::int64_t tokens_at = 0;  // int32[tokens]
  std::int32_t tokens = 0;     // prompt, output and what is drafted so far
  std::int32_t prompt_tokens = 0;
  std::int32_t drafted = 0;  // the last of `tokens`; 0 in DELTA
  std::int32_t max_nodes = 0;
  std::int32_t max_depth = 0;
  std::int32_t reserved = 0;
};
static_assert(sizeof(Ask) == 40 && offsetof(Ask, tokens) == 16);

struct GivenNode {  // DELTA's payload
  std::int32_t parent, token;
};

constexpr std::size_t kAlignment = 64;  // of every array
constexpr std::size_t aligned(std::size_t at) {
  return (at + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace piped
