// SPDX-License-Identifier: Apache-2.0
// Tiny generated models for the engine's tests, made once a process.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

#include "model/tiny_model.hpp"
#include "text/tokenizer.hpp"

namespace tests {

inline const std::filesystem::path& tiny_folder() {
  static const struct Folder {
    Folder()
        : path(std::filesystem::temp_directory_path() /
               ("redline-engine-test-" + std::to_string(getpid()))) {
      std::filesystem::create_directories(path);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
  } folder;
  return folder.path;
}

// The target, and a draft that often agrees: the same model with coarser weights.
inline std::string tiny_model(redline::files::TensorType type = redline::files::TensorType::Q8_0,
                              std::uint64_t seed = 1) {
  const auto path = tiny_folder() / ("tiny-" + std::to_string(static_cast<int>(type)) + "-" +
                                     std::to_string(seed) + ".gguf");
  if (!std::filesystem::exists(path)) {
    redline::model::TinySpec spec;
    spec.type = type;
    spec.seed = seed;
    redline::model::write_tiny_model(spec, path);
  }
  return path.string();
}

// A smaller one, where many steps count and the width does not.
inline std::string small_model(redline::files::TensorType type = redline::files::TensorType::Q8_0,
                               std::int32_t context = 1024) {
  const auto path = tiny_folder() / ("small-" + std::to_string(static_cast<int>(type)) + "-" +
                                     std::to_string(context) + ".gguf");
  if (!std::filesystem::exists(path)) {
    redline::model::TinySpec spec{.hidden = 64, .heads = 2, .kv_heads = 1, .feed_forward = 128};
    spec.type = type;
    spec.context = context;
    redline::model::write_tiny_model(spec, path);
  }
  return path.string();
}

inline const redline::text::Tokenizer& tiny_tokenizer() {
  static const redline::text::Tokenizer tokenizer(redline::files::Gguf::open(tiny_model()));
  return tokenizer;
}

}  // namespace tests
