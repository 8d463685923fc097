// SPDX-License-Identifier: Apache-2.0
// What a packed weights file of a model must look like, before it is read or written.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "files/gguf.hpp"
#include "redline/kernels/weights.hpp"

namespace redline::model {

struct PackedSource {  // a matrix by its name, and what it is made of
  std::string name, tensor;
  kernels::WeightType type;  // as packed; not the file's: quantised anew
};
std::vector<PackedSource> as_stored(const files::Gguf& file, const std::vector<std::string>& names);

struct PackedEntry {
  std::string name;
  const files::Tensor* tensor;
  kernels::WeightType stored, type;  // in the model's file, in the tiles
  std::int64_t offset, bytes;        // of the tiles in the file
  std::int64_t group_tiles;          // tiles packed and checked as one task
  std::int64_t tiles() const;
  std::int64_t groups() const { return (tiles() + group_tiles - 1) / group_tiles; }
};

struct PackedLayout {
  std::string head;  // the text at the start
  std::string file_name;
  std::int64_t sums_offset, file_bytes;
  std::vector<PackedEntry> entries;
};
PackedLayout packed_layout(const files::Gguf& file, const std::vector<PackedSource>& matrices);

// Of the tiles of one group; a matrix's checksum is the sum over its groups, in any order.
std::uint64_t checksum(std::span<const std::byte> bytes, std::int64_t group);

}  // namespace redline::model
