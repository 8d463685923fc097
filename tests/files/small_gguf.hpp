// SPDX-License-Identifier: Apache-2.0
// A GGUF file of a few hundred bytes that holds every kind of value and three tensors, and the
// means to spoil it.
#pragma once
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "files/gguf.hpp"
#include "files/gguf_writer.hpp"
#include "redline/error.hpp"

namespace redline::tests {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(const files::GgufWriter& writer) {
  const std::string text = writer.bytes();
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline Bytes small_gguf() {
  files::GgufWriter writer;
  writer.set("general.architecture", std::string("llama"));
  writer.set("a.unsigned", std::uint64_t{7});
  writer.set("a.large", std::uint64_t{1} << 40);
  writer.set("a.signed", std::int64_t{-3});
  writer.set("a.real", 0.5);
  writer.set("a.truth", true);
  writer.set("a.texts", std::vector<std::string>{"one", "two", ""});
  writer.set("a.numbers", std::vector<std::int64_t>{1, -2, 3});
  writer.set("a.truths", std::vector<bool>{true, false});
  writer.set("a.reals", std::vector<double>{0.25, 4});
  writer.add("f32", files::TensorType::F32, {3, 2}, Bytes(24, std::byte{1}));
  writer.add("q4_0", files::TensorType::Q4_0, {64, 2}, Bytes(72, std::byte{2}));
  writer.add("q6_k", files::TensorType::Q6_K, {256}, Bytes(210, std::byte{3}));
  return bytes_of(writer);
}

// Where `text` stands in the bytes.
inline std::size_t find_text(const Bytes& bytes, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.find(text);
}

template <class T>
Bytes with(Bytes bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
  return bytes;
}

}  // namespace redline::tests
