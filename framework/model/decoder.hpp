// SPDX-License-Identifier: Apache-2.0
// One decoder-only transformer: a shard of weights and forward(Batch). Target and draft alike;
// prefill, plain decoding and verification alike. Knows nothing of speculation.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "files/gguf.hpp"
#include "kv/page_pool.hpp"
#include "model/forward.hpp"
#include "parallel/communicator.hpp"

namespace redline::model {

struct Shape {               // of the whole model
  std::string architecture;  // "llama", "qwen2"
  std::int32_t layers, hidden, heads, kv_heads, head_size, feed_forward, vocab, context;
  kv::KvShape kv() const { return {layers, kv_heads, head_size}; }
};

// InputError: an architecture or tensor type this build does not know, with the known ones.
Shape shape_of(const files::Gguf& file);

struct MemoryNeed {  // bytes of one rank, before anything is loaded
  std::int64_t weights, activations;
  kv::KvShape kv = {};  // of a page
};

enum class Requantize : std::uint8_t { NONE, Q4_0 };  // matrices of more than four bits

struct LoadOptions {
  std::filesystem::path cache_folder;  // packed weights go into its folder weights/
  std::int32_t max_rows = 512;         // widest forward
  std::int32_t max_wanted = 0;         // of those, rows that want logits; 0: as many
  std::int32_t max_positions = 4096;   // of the rope table
  std::vector<Tap> taps = {};          // hidden states to keep beside the KV of every row
  kernels::KvType kv_type = kernels::KvType::F16;  // of K and V in the pages
  bool huge_pages = true;  // a copy of the weights for a model that is not split
  Requantize requantize = Requantize::NONE;
  std::vector<Token> head_tokens = {};  // rising: rows get their logits alone; empty: of all
  std::function<void(double done, const std::string& what)> progress;  // may be empty
};

struct Architecture;

class Decoder final : public Forward {
 public:
  // InputError: a degree that does not fit the model.
  static MemoryNeed memory_need(const files::Gguf& file, const LoadOptions& options, int rank = 0,
                                int degree = 1);
  // The rank's shard of `ranks`, which must all be there: every call is a collective.
  Decoder(const files::Gguf& file, device::Device& device, parallel::Communicator& ranks,
          const LoadOptions& options);
  ~Decoder() override;
  Decoder(const Decoder&) = delete;  // holds the weights' mapping

  const Shape& shape() const;
  const Architecture& architecture() const;  // likewise of the whole model
  std::int32_t vocab() const override;
  std::int32_t context() const override;
  std::int32_t max_rows() const override;
  kv::KvShape kv_shape() const override;               // of this rank
  const Output& forward(const Batch& batch) override;  // logits and summaries: on rank 0

  // What learned heads borrow. Rows of the embedding, [tokens, D]; logits of normed states [rows,
  // D], by a head of all tokens, [rows, V]: rows <= max_rows().
  bool is_lead() const;  // rank 0, which alone has rows
  void embed(std::span<const Token> tokens, float* out);
  void head(const float* normed, std::int64_t rows, float* out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::model
