// SPDX-License-Identifier: Apache-2.0
// The block types of GGUF that redline reads: names and sizes. What the bytes of a block mean is
// the kernels' business.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "files/gguf.hpp"

namespace redline::files {

struct BlockShape {
  std::string_view name;
  std::int64_t weights, bytes;  // of one block
};

BlockShape block_shape(TensorType type);
std::optional<TensorType> tensor_type(std::uint32_t number);  // nullopt: not one of ours
std::string tensor_type_name(std::uint32_t number);           // also of types we do not read
std::string known_tensor_types();                             // "F32, F16, ...", for messages

}  // namespace redline::files
