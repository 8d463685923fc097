// SPDX-License-Identifier: Apache-2.0
// The format: numpy.lib.format, version 1.0.
#include "redline/npy_writer.hpp"

#include "redline/error.hpp"

namespace redline::tool {

NpyWriter::NpyWriter(const std::string& path, std::int64_t rows, std::int64_t cols)
    : path_(path), out_(path, std::ios::binary) {
  if (!out_) throw InputError("cannot write " + path + "; give a file in a folder you may write");
  constexpr std::size_t kPrefix = 10, kAlignment = 64;  // magic, version, length of the header
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows) + ", " + std::to_string(cols) + "), }";
  header.append(kAlignment - (kPrefix + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  out_ << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() & 255)
       << static_cast<char>(header.size() >> 8) << header;
}

void NpyWriter::add(std::span<const float> row) {
  out_.write(reinterpret_cast<const char*>(row.data()),
             static_cast<std::streamsize>(row.size_bytes()));
}

void NpyWriter::close() {
  out_.close();
  if (!out_) throw DeviceError("cannot write all of " + path_ + "; is the disk full?");
}

}  // namespace redline::tool
