// SPDX-License-Identifier: Apache-2.0
// A model file made of any bytes is read or refused with an InputError: nothing else may happen.
#include "files/gguf.hpp"
#include "redline/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  try {
    const auto file = redline::files::Gguf::of_bytes({bytes, bytes + size}, "fuzzed.gguf");
    std::uint64_t sum = file.header().size();
    for (const redline::files::Tensor& tensor : file.tensors()) {
      sum += static_cast<std::uint64_t>(tensor.rows() * tensor.cols());
      for (const std::byte byte : tensor.bytes) sum += static_cast<std::uint64_t>(byte);
    }
    volatile std::uint64_t used = sum;  // so that no read is optimised away
    (void)used;
  } catch (const redline::InputError&) {
  }
  return 0;
}
