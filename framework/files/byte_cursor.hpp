// SPDX-License-Identifier: Apache-2.0
// Reads little-endian values from bytes that may lie: nothing is touched before it is known to be
// there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace redline::files {

class ByteCursor {
 public:
  ByteCursor(std::span<const std::byte> bytes, std::string file)
      : bytes_(bytes), file_(std::move(file)) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }

  template <class T>
  T read(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return value;
  }
  std::string_view read_text(std::string_view what);  // u64 length, then its bytes
  // `count` items of at least `item_bytes` each must still fit before any of them is read.
  void expect(std::uint64_t count, std::uint64_t item_bytes, std::string_view what) const;

  void within(std::string place) { place_ = std::move(place); }  // named in messages
  [[noreturn]] void fail(const std::string& why) const;          // InputError

 private:
  std::span<const std::byte> take(std::uint64_t count, std::string_view what);
  std::span<const std::byte> bytes_;
  std::string file_, place_;
  std::size_t position_ = 0;
};

}  // namespace redline::files
