// SPDX-License-Identifier: Apache-2.0
// Where a request ends: its tokens walked one by one, the first stop wins. Holds the text.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/request.hpp"
#include "text/detokenizer.hpp"

namespace redline::engine {

// The ids that end `request`, sorted: the model's end-of-generation ids unless ignored, and its
// own.
std::vector<Token> stop_tokens(const Request& request, const text::Tokenizer& tokenizer);

class Stops {
 public:
  Stops(const Request& request, const text::Tokenizer& tokenizer, std::int32_t max_model_len);

  // Takes the next token. The reason when the sequence ends with it.
  std::optional<trace::FinishReason> push(Token token);
  std::string text();  // of the tokens so far, cut at a stop string; ends the walk

 private:
  bool meets_stop_string(std::size_t known_bytes);
  const Request& request_;
  std::vector<Token> tokens_;  // sorted
  text::Detokenizer detokenizer_;
  std::int32_t emitted_ = 0, room_;
  bool cut_ = false;
  std::string text_;
};

}  // namespace redline::engine
