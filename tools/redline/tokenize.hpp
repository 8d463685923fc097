// SPDX-License-Identifier: Apache-2.0
// `redline tokenize`: texts to ids, one text a line; with --chat, conversations to prompts.
#pragma once
#include <string>

namespace redline::tool {

struct TokenizeOptions {
  std::string model;          // path or known name
  std::string file, text;     // file "": standard input, unless a text is given
  bool json = false;          // one list a line, instead of one token a line
  bool special = false;       // "<|im_end|>" is that token, not six of its pieces
  bool escaped = false;       // each line is a JSON string
  bool chat = false;          // each line is a JSON list of {"role", "content"}
  bool render = false;        // with chat: the prompt's text, not its ids
  std::string chat_template;  // "": recognised from the model
};
int tokenize(const TokenizeOptions& options);

}  // namespace redline::tool
