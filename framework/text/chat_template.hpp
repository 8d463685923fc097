// SPDX-License-Identifier: Apache-2.0
// Chat templates recognised from the model's own template text (ChatML style, SmolLM); no Jinja
// engine. An unknown template is an InputError that says how to give one.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "files/gguf.hpp"

namespace redline::text {

struct Message {
  std::string role, content;  // "system", "user", "assistant"
};

class ChatTemplate {
 public:
  // `override_name`: "", or the name of a known template given by the user.
  explicit ChatTemplate(const files::Gguf& model, std::string_view override_name = "");
  // The prompt text up to and including the assistant's opening. Where the template prints a BOS
  // and the model's tokenizer is told to add one, the text leaves it to the tokenizer: one remains.
  std::string render(std::span<const Message> messages) const;
  const std::string& name() const { return name_; }
  std::string sha256() const;  // of the model's template text

 private:
  std::string name_, source_;
  std::optional<std::string> default_system_;  // said where the first message is no system message
  std::string bos_;                            // what the text begins with
};

}  // namespace redline::text
