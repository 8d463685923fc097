// SPDX-License-Identifier: Apache-2.0
// A model whose KV is the text: a slot's K holds the row's token and its V the position, so that a
// wrong slot, mask or compaction shows as a wrong context. The logits of a row are a function of
// the tokens it sees, read back from the pages.
#pragma once
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

#include "model/forward.hpp"

namespace redline::check {

class ScriptedModel final : public model::Forward {
 public:
  using Law = std::function<std::vector<float>(std::span<const Token>)>;  // text -> logits [V]

  ScriptedModel(std::int32_t vocab, Law law, std::int32_t context = 4096,
                std::int32_t max_rows = 512)
      : vocab_(vocab), context_(context), max_rows_(max_rows), law_(std::move(law)) {}

  std::int32_t vocab() const override { return vocab_; }
  std::int32_t context() const override { return context_; }
  std::int32_t max_rows() const override { return max_rows_; }
  kv::KvShape kv_shape() const override {  // 4 bytes of K and of V a slot
    return {.layers = 1, .kv_heads = 1, .head_size = 1, .type = kernels::KvType::F32};
  }

  const model::Output& forward(const model::Batch& batch) override {
    require(static_cast<std::int32_t>(batch.rows.size()) <= max_rows_, "rows fit the forward");
    ++forwards;
    rows += static_cast<std::int64_t>(batch.rows.size());
    output_ = {};
    output_.vocab = vocab_;
    output_.logits.resize(batch.rows.size());
    held_.assign(batch.rows.size(), {});
    std::int32_t covered = 0;
    for (const model::Segment& s : batch.segments) {
      require(s.row_begin == covered, "segments cover the rows in order");
      covered = s.row_end;
      for (std::int32_t r = s.row_begin; r < s.row_end; ++r) write(*s.cache, batch.rows[r]);
      for (std::int32_t r = s.row_begin; r < s.row_end; ++r) {
        const auto text = seen(*s.cache, batch, batch.rows[r]);
        if (batch.rows[r].want != model::Want::ROW) continue;
        held_[r] = law_(text);
        output_.logits[r] = held_[r];
      }
    }
    require(covered == static_cast<std::int32_t>(batch.rows.size()), "segments cover all rows");
    return output_;
  }

  // The text a cache holds, for the replay tests; throws when a slot's position is not its own.
  static std::vector<Token> text_of(const kv::PageTable& cache) {
    std::vector<Token> text;
    for (std::int32_t at = 0; at < cache.tokens(); ++at) text.push_back(read(cache, at, at));
    return text;
  }

  std::int64_t forwards = 0, rows = 0;

 private:
  static void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string("scripted model: not so: ") + what);
  }
  static std::byte* at(const kv::PageTable& cache, std::int32_t slot, bool is_v) {
    require(slot >= 0 && slot / kv::kPageTokens < static_cast<std::int32_t>(cache.pages().size()),
            "a slot lies in the cache's pages");
    return cache.pages()[slot / kv::kPageTokens] + (is_v ? 4 * kv::kPageTokens : 0) +
           4 * (slot % kv::kPageTokens);
  }
  void write(const kv::PageTable& cache, const model::Row& row) {
    require(row.token >= 0 && row.token < vocab_, "a token is below V");
    require(row.position >= 0 && row.position < context_, "a position is within the context");
    require(row.slot >= cache.tokens(), "committed slots are never written");
    std::memcpy(at(cache, row.slot, false), &row.token, 4);
    std::memcpy(at(cache, row.slot, true), &row.position, 4);
  }
  static Token read(const kv::PageTable& cache, std::int32_t slot, std::int32_t position) {
    std::int32_t token, written;
    std::memcpy(&token, at(cache, slot, false), 4);
    std::memcpy(&written, at(cache, slot, true), 4);
    require(written == position, "what a row sees at a position was written for that position");
    return token;
  }
  static std::vector<Token> seen(const kv::PageTable& cache, const model::Batch& batch,
                                 const model::Row& row) {
    std::vector<Token> text;
    for (std::int32_t slot = 0; slot < row.prefix; ++slot) text.push_back(read(cache, slot, slot));
    std::int32_t last = row.prefix - 1;
    for (std::int32_t k = row.tail_begin; k < row.tail_end; ++k) {
      last = batch.tail[k];
      text.push_back(read(cache, last, static_cast<std::int32_t>(text.size())));
    }
    require(last == row.slot, "a row sees its own slot last");
    require(static_cast<std::int32_t>(text.size()) == row.position + 1,
            "a row sees every position");
    return text;
  }

  std::int32_t vocab_, context_, max_rows_;
  Law law_;
  std::vector<std::vector<float>> held_;
  model::Output output_;
};

}  // namespace redline::check
