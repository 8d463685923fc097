// SPDX-License-Identifier: Apache-2.0
// The header of a GGUF file from its bytes. Layout: magic "GGUF", u32 version, u64 tensor count,
// u64 key count, keys, tensor descriptions, padding, data (the format's own specification).
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "files/gguf.hpp"

namespace redline::files {

struct GgufContents {
  std::map<std::string, Value, std::less<>> values;
  std::vector<Tensor> tensors;   // their bytes lie in the span that was parsed
  std::size_t header_bytes = 0;  // where tensor data begins
};

// InputError: anything not as the format says, naming `file`, the key or tensor, and the numbers.
GgufContents parse_gguf(std::span<const std::byte> bytes, const std::string& file);

}  // namespace redline::files
