// SPDX-License-Identifier: Apache-2.0
// Writes a GGUF v3 file: for generated models and for tests. Keys and tensors keep their order.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "files/gguf.hpp"

namespace redline::files {

class GgufWriter {
 public:
  void set(std::string key, Value value);  // integers as u32/i32 where they fit, numbers as f32
  void add(std::string name, TensorType type, std::vector<std::int64_t> shape,
           std::vector<std::byte> bytes);  // InputError when bytes do not fit type and shape
  std::string bytes() const;               // of the whole file
  void write(const std::filesystem::path& path) const;

 private:
  struct Entry {
    std::string name;
    TensorType type;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
  };
  std::vector<std::pair<std::string, Value>> values_;
  std::vector<Entry> tensors_;
};

}  // namespace redline::files
