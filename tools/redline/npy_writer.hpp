// SPDX-License-Identifier: Apache-2.0
// A NumPy file of float32 [rows, cols], written row by row.
#pragma once
#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace redline::tool {

class NpyWriter {
 public:
  NpyWriter(const std::string& path, std::int64_t rows, std::int64_t cols);  // InputError: cannot
  void add(std::span<const float> row);
  void close();  // DeviceError: not all of it was written

 private:
  std::string path_;
  std::ofstream out_;
};

}  // namespace redline::tool
