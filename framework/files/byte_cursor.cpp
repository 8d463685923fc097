// SPDX-License-Identifier: Apache-2.0
#include "files/byte_cursor.hpp"

#include "redline/error.hpp"

namespace redline::files {

void ByteCursor::fail(const std::string& why) const {
  throw InputError(file_ + ": " + (place_.empty() ? "" : place_ + ": ") + why);
}

void ByteCursor::expect(std::uint64_t count, std::uint64_t item_bytes,
                        std::string_view what) const {
  if (count <= left() / item_bytes) return;
  fail(std::string(what) + " at offset " + std::to_string(position_) + " needs " +
       std::to_string(count) + " x " + std::to_string(item_bytes) + " bytes and the file has " +
       std::to_string(left()) + " left: it is truncated or damaged; fetch it again");
}

std::span<const std::byte> ByteCursor::take(std::uint64_t count, std::string_view what) {
  expect(count, 1, what);
  const auto part = bytes_.subspan(position_, count);
  position_ += count;
  return part;
}

std::string_view ByteCursor::read_text(std::string_view what) {
  const auto part = take(read<std::uint64_t>(what), what);
  return {reinterpret_cast<const char*>(part.data()), part.size()};
}

}  // namespace redline::files
