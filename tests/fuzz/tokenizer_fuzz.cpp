// SPDX-License-Identifier: Apache-2.0
// Any text, well-formed or not, comes back from its tokens byte by byte, and a detokenizer never
// hands out half a character.
#include <cstdlib>

#include "files/utf8.hpp"
#include "text/detokenizer.hpp"
#include "text/small_vocabulary.hpp"

using namespace redline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const text::Tokenizer kTokenizer(tests::small_vocabulary("llama-bpe"));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto specials : {text::Specials::PLAIN_TEXT, text::Specials::PARSE}) {
    const auto tokens = kTokenizer.encode(text, specials);
    if (kTokenizer.decode(tokens) != text) std::abort();
    text::Detokenizer detokenizer(kTokenizer);
    for (const Token token : tokens)
      files::for_each_run(detokenizer.push(token), [](std::string_view, bool well_formed) {
        if (!well_formed) std::abort();
      });
  }
  return 0;
}
