// SPDX-License-Identifier: Apache-2.0
// A model's laws along a text that is already there, by a forward of its own: what plain decoding
// would have drawn from, whatever the engine's caches went through.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/padded_forward.hpp"
#include "kv/page_pool.hpp"
#include "model/decoder.hpp"

namespace redline::check {

struct ForcedSpec {
  std::string model, device, isa;
  std::int32_t threads = 0, max_tokens = 0;  // of the longest text
  std::filesystem::path cache_folder;
  std::int32_t vocab = 0;  // of the rows; 0: the model's own
};

class ForcedRows {
 public:
  explicit ForcedRows(const ForcedSpec& spec);
  std::int32_t vocab() const { return forward_->vocab(); }
  // Logits after each of the tokens from `first` on, in order.
  using OnRow = std::function<void(std::int32_t position, std::span<const float> logits)>;
  void over(std::span<const Token> text, std::int32_t first, const OnRow& on_row);

 private:
  files::Gguf file_;
  std::unique_ptr<device::Device> device_;
  parallel::Solo ranks_;
  model::Decoder decoder_;
  std::optional<engine::PaddedForward> padded_;
  model::Forward* forward_;
  kv::PagePool pool_;
};

}  // namespace redline::check
