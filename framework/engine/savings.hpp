// SPDX-License-Identifier: Apache-2.0
// What makes a draft model cheaper than its file, as a drafter asked for it: weights quantised
// anew, a head of the most frequent tokens alone.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/decoder.hpp"
#include "redline/model_choice.hpp"

namespace redline::engine {

struct Savings {
  model::Requantize requantize = model::Requantize::NONE;
  std::vector<Token> head_tokens;  // rising; empty: all
  std::string frequencies;         // the file that they are from, and its SHA-256
  std::string frequencies_sha256;

  void apply_to(model::LoadOptions& options) const;
  std::string text() const;  // "q4_0-head8192"; "" for none: part of the name of what was measured
  std::vector<std::pair<std::string, std::string>> attributes() const;  // for a trace
};
bool saves_alike(const ModelChoice& a, const ModelChoice& b);  // whatever the model

// InputError: an unknown type, a frequency file that is missing, of another tokenizer than the
// draft's, or that counts fewer tokens than are to stay.
Savings savings_of(const ModelChoice& choice, const files::Gguf& draft);

}  // namespace redline::engine
