// SPDX-License-Identifier: Apache-2.0
// Random weights as the bytes of a GGUF tensor. Quantised blocks are made directly, never by
// quantising floats, so that every machine writes the same bytes.
#pragma once
#include <cstddef>
#include <vector>

#include "files/gguf.hpp"
#include "model/hash_stream.hpp"

namespace redline::model {

// Mean 0, the standard deviation given; any type of files::TensorType.
std::vector<std::byte> random_blocks(files::TensorType type, std::int64_t rows, std::int64_t cols,
                                     double deviation, HashStream& random);

}  // namespace redline::model
