// SPDX-License-Identifier: Apache-2.0
#include "engine/savings.hpp"

#include "files/sha256.hpp"
#include "redline/error.hpp"
#include "text/frequencies.hpp"

namespace redline::engine {
namespace {

model::Requantize requantize_of(const std::string& name) {
  if (name == "none") return model::Requantize::NONE;
  if (name == "q4_0") return model::Requantize::Q4_0;
  throw InputError("requantize is '" + name + "'; known are none and q4_0");
}

std::vector<Token> frequent(const ModelChoice& choice, const files::Gguf& model) {
  const std::string& file = choice.frequencies;
  if (file.empty())
    throw InputError("head_tokens is " + std::to_string(choice.head_tokens) +
                     " and frequencies is empty; name a file made by `redline frequencies`");
  const text::Frequencies known = text::read_frequencies(file);
  const text::Tokenizer draft(model);
  if (known.tokenizer_sha256 != draft.sha256())
    throw InputError(file + " counts " + std::to_string(known.vocab) + " tokens of tokenizer " +
                     known.tokenizer_sha256.substr(0, 12) + ", the draft model " + choice.model +
                     " has " + std::to_string(draft.vocab()) + " of tokenizer " +
                     draft.sha256().substr(0, 12) + "; make one with `redline frequencies " +
                     choice.model + " TEXT...`");
  const auto wanted = static_cast<std::size_t>(choice.head_tokens);
  if (wanted > known.entries.size())
    throw InputError("head_tokens is " + std::to_string(wanted) + ", " + file + " counts only " +
                     std::to_string(known.entries.size()) +
                     " distinct tokens; lower head_tokens, or count more text");
  return known.best(wanted);
}

}  // namespace

void Savings::apply_to(model::LoadOptions& options) const {
  options.requantize = requantize;
  options.head_tokens = head_tokens;
}

std::string Savings::text() const {
  std::string text = requantize == model::Requantize::Q4_0 ? "q4_0" : "";
  if (!head_tokens.empty())
    text += (text.empty() ? "head" : "-head") + std::to_string(head_tokens.size());
  return text;
}

std::vector<std::pair<std::string, std::string>> Savings::attributes() const {
  const bool is_quantized = requantize == model::Requantize::Q4_0;
  return {{"requantize", is_quantized ? "q4_0" : "none"},
          {"head_tokens", std::to_string(head_tokens.size())},
          {"frequencies", frequencies},
          {"frequencies_sha256", frequencies_sha256}};
}

bool saves_alike(const ModelChoice& a, const ModelChoice& b) {
  return a.requantize == b.requantize && a.head_tokens == b.head_tokens &&
         (a.head_tokens == 0 || a.frequencies == b.frequencies);
}

Savings savings_of(const ModelChoice& choice, const files::Gguf& draft) {
  Savings savings;
  savings.requantize = requantize_of(choice.requantize);
  if (choice.head_tokens == 0) return savings;
  savings.head_tokens = frequent(choice, draft);
  savings.frequencies = choice.frequencies;
  savings.frequencies_sha256 = files::sha256_file(choice.frequencies);
  return savings;
}

}  // namespace redline::engine
