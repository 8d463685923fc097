// SPDX-License-Identifier: Apache-2.0
// A model on a device, for commands that run forwards without an engine.
#pragma once
#include <memory>
#include <string>

#include "device/device.hpp"
#include "engine/savings.hpp"
#include "files/gguf.hpp"
#include "model/decoder.hpp"

namespace redline::tool {

struct ModelOptions {
  std::string model;  // a GGUF file or a known name
  int threads = 0;    // 0: one a core
  std::string isa;    // empty: the best one
  std::string device = "cpu";
  std::string kv_dtype = "f16";     // of K and V: f16, f32 or q8_0
  std::string requantize = "none";  // as a draft model: none or q4_0
  int head_tokens = 0;              // likewise; 0: all
  std::string frequencies;          // of tokens, for head_tokens
};

class LoadedModel {
 public:
  // load.cache_folder: the user's when empty.
  LoadedModel(const ModelOptions& options, const model::LoadOptions& load);
  const files::Gguf& file() const { return file_; }
  const model::LoadOptions& load() const { return load_; }  // as it was loaded
  const engine::Savings& savings() const { return savings_; }
  model::Decoder& decoder() { return decoder_; }
  device::Device& device() { return *device_; }
  double load_seconds() const { return load_seconds_; }

 private:
  double begin_;
  files::Gguf file_;
  engine::Savings savings_;
  model::LoadOptions load_;
  std::unique_ptr<device::Device> device_;
  parallel::Solo ranks_;
  model::Decoder decoder_;
  double load_seconds_;
};

}  // namespace redline::tool
