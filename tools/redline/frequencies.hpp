// SPDX-License-Identifier: Apache-2.0
// `redline frequencies`: counts the tokens of texts, for draft models with a shorter head.
#pragma once
#include <string>
#include <vector>

namespace redline::tool {

struct FrequenciesOptions {
  std::string model;                // a GGUF file or a known name: its tokenizer counts
  std::vector<std::string> texts;   // files of plain text, or of JSON lines (.jsonl)
  std::vector<std::string> fields;  // of JSON lines; empty: every text in them
  std::string out;
};
int frequencies(const FrequenciesOptions& options);

}  // namespace redline::tool
