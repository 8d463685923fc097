// SPDX-License-Identifier: Apache-2.0
// The known models that are in the cache: tests on real vocabularies run where they are.
#pragma once
#include <optional>
#include <string_view>

#include "files/gguf.hpp"
#include "files/model_store.hpp"

namespace redline::tests {

inline std::optional<files::Gguf> model_here(std::string_view name) {
  for (const auto& model : files::known_models())
    if (model.name == name && std::filesystem::exists(files::cached_path(model)))
      return files::Gguf::open(files::cached_path(model));
  return std::nullopt;
}

inline constexpr std::string_view kSmolLm2 = "smollm2-135m-instruct-q4_1";
inline constexpr std::string_view kQwenHalf = "qwen2.5-coder-0.5b-instruct-q4_k_m";
inline constexpr std::string_view kQwen = "qwen2.5-coder-1.5b-instruct-q4_k_m";

}  // namespace redline::tests
