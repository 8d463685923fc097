// SPDX-License-Identifier: Apache-2.0
// A byte-level BPE vocabulary for generated models: 256 bytes in GPT-2's alphabet, three specials
// of ChatML, then merged tokens.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace redline::model {

struct TinyVocabulary {
  std::vector<std::string> tokens;  // [V]
  std::vector<std::int64_t> types;  // [V]: 1 normal, 3 control
  std::vector<std::string> merges;  // "left right", the strongest first
  std::int64_t end_of_text = 0, turn_begin = 0, turn_end = 0;
};
TinyVocabulary tiny_vocabulary(std::int32_t extra_tokens);

}  // namespace redline::model
