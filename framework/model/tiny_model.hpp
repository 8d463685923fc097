// SPDX-License-Identifier: Apache-2.0
// Generates a tiny random model, the same bytes on every machine: for tests and for the signature.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "files/gguf_writer.hpp"

namespace redline::model {

struct TinySpec {
  std::string architecture = "llama";
  std::int32_t layers = 2, hidden = 256, heads = 4, kv_heads = 2, feed_forward = 512,
               context = 1024;
  std::int32_t extra_vocab = 64;  // beyond the 256 bytes and the specials
  files::TensorType type = files::TensorType::Q4_K;
  std::uint64_t seed = 1;
  double scale = 1.0;  // of the weights; larger gives sharper rows
  bool tied = false;   // no output.weight: the embedding is the head
};
files::GgufWriter tiny_model(const TinySpec& spec);  // for a test to add to
void write_tiny_model(const TinySpec& spec, const std::filesystem::path& path);

}  // namespace redline::model
