// SPDX-License-Identifier: Apache-2.0
#include "engine/request.hpp"

namespace redline::engine {

// FNV-1a over the bytes, then a finaliser (splitmix64's) so that near keys differ in every bit.
std::uint64_t request_key(std::string_view data_set, std::uint64_t question, std::uint32_t turn,
                          std::uint32_t repeat) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto feed = [&hash](std::uint64_t byte) { hash = (hash ^ byte) * 0x100000001b3U; };
  for (char c : data_set) feed(static_cast<unsigned char>(c));
  for (std::uint64_t word : {question, std::uint64_t{turn}, std::uint64_t{repeat}})
    for (int shift = 0; shift < 64; shift += 8) feed(word >> shift & 0xff);
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebU;
  return hash ^ hash >> 31;
}

}  // namespace redline::engine
