// SPDX-License-Identifier: Apache-2.0
#include "model/tiny_vocabulary.hpp"

#include <set>

#include "model/hash_stream.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

constexpr std::int64_t kNormal = 1, kControl = 3;
constexpr std::size_t kMaxTokenBytes = 8;

// GPT-2 writes a byte as itself where it is printable in Latin-1, else as 256, 257, ... in order.
bool is_printable(int byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
}
std::string utf8(int code) {  // of two bytes at most
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}
std::vector<std::string> byte_tokens() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte)
    if (is_printable(byte)) tokens.push_back(utf8(byte));
  for (int code = 256; tokens.size() < 256; ++code) tokens.push_back(utf8(code));
  return tokens;
}

}  // namespace

TinyVocabulary tiny_vocabulary(std::int32_t extra_tokens) {
  TinyVocabulary vocabulary;
  vocabulary.tokens = byte_tokens();
  vocabulary.types.assign(256, kNormal);
  const auto add_special = [&](const char* name) {
    vocabulary.tokens.push_back(name);
    vocabulary.types.push_back(kControl);
    return static_cast<std::int64_t>(vocabulary.tokens.size()) - 1;
  };
  vocabulary.end_of_text = add_special("<|endoftext|>");
  vocabulary.turn_begin = add_special("<|im_start|>");
  vocabulary.turn_end = add_special("<|im_end|>");
  HashStream random(1, "merges");
  const std::string space = utf8(0x120);
  std::vector<std::string> parts = {space};
  for (const char letter : std::string("etaoinshrdlucmfwygp")) parts.push_back({letter});
  std::set<std::string> known(parts.begin(), parts.end());
  const std::size_t wanted = vocabulary.tokens.size() + extra_tokens;
  for (int tries = 0; vocabulary.tokens.size() < wanted; ++tries) {
    if (tries > 1000 * (extra_tokens + 1))
      throw Error("tiny vocabulary: no " + std::to_string(extra_tokens) + " different merges");
    const std::string left = parts[random.below(parts.size())];
    const std::string right = parts[random.below(parts.size())];
    if (right.starts_with(space) || left.size() + right.size() > kMaxTokenBytes) continue;
    if (!known.insert(left + right).second) continue;
    parts.push_back(left + right);
    vocabulary.tokens.push_back(left + right);
    vocabulary.types.push_back(kNormal);
    vocabulary.merges.push_back(left + " " + right);
  }
  return vocabulary;
}

}  // namespace redline::model
