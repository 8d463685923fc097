// SPDX-License-Identifier: Apache-2.0
#include "engine/stops.hpp"

#include <algorithm>

namespace redline::engine {

std::vector<Token> stop_tokens(const Request& request, const text::Tokenizer& tokenizer) {
  std::vector<Token> ids = request.stop_tokens;
  if (!request.ignore_eos) {
    const auto ends = tokenizer.end_of_generation();
    ids.insert(ids.end(), ends.begin(), ends.end());
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Stops::Stops(const Request& request, const text::Tokenizer& tokenizer, std::int32_t max_model_len)
    : request_(request),
      tokens_(stop_tokens(request, tokenizer)),
      detokenizer_(tokenizer),
      room_(max_model_len - static_cast<std::int32_t>(request.prompt.size())) {
  constexpr std::size_t kTokenBytes = 8;  // what a token spells, amply
  text_.reserve(kTokenBytes *
                static_cast<std::size_t>(std::max(std::min(request.max_tokens, room_), 0)));
}

std::optional<trace::FinishReason> Stops::push(Token token) {
  ++emitted_;
  const std::size_t known = text_.size();
  text_ += detokenizer_.push(token);
  if (std::binary_search(tokens_.begin(), tokens_.end(), token)) return trace::FinishReason::STOP;
  if (meets_stop_string(known)) return trace::FinishReason::STOP;
  if (emitted_ >= request_.max_tokens) return trace::FinishReason::LENGTH;
  if (emitted_ >= room_) return trace::FinishReason::CONTEXT;
  return std::nullopt;
}

// A match ends in the new bytes but may begin before them; the earliest one cuts the text.
bool Stops::meets_stop_string(std::size_t known_bytes) {
  std::size_t cut = std::string::npos;
  for (const std::string& stop : request_.stop_strings) {
    if (stop.empty()) continue;
    const std::size_t from = known_bytes < stop.size() ? 0 : known_bytes - stop.size() + 1;
    cut = std::min(cut, text_.find(stop, from));
  }
  if (cut == std::string::npos) return false;
  text_.resize(cut);
  return cut_ = true;
}

std::string Stops::text() {
  if (!cut_) text_ += detokenizer_.finish();
  return std::move(text_);
}

}  // namespace redline::engine
