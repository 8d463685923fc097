// SPDX-License-Identifier: Apache-2.0
// Seeded mutations of a config: every text is read or refused with an InputError.
#include <catch2/catch.hpp>
#include <random>

#include "config/value.hpp"

using namespace redline;

TEST_CASE("No mutation of a config or of JSON does worse than an InputError") {
  const std::string seed_text =
      "redline: 1\nname: 'quick'\nmodel: {target: m, template: \"a\\u00e9\"}\n"
      "sampler: [&t {name: sample_temperature, t: 0.8}, *t]\nmatrix:\n  plain: {}\n"
      "  ngram:\n    draft: draft_ngram\n    length: |\n      text\n...\n";
  const std::string alphabet = "{}[]:,-&*!|>'\"%@`#?~ \n\t\\012.\x01\xff\xc3=+<";
  std::mt19937 random(7);
  int read = 0, refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seed_text;
    for (unsigned edits = 1 + random() % 6; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        case 2:
          text.insert(at, 1, alphabet[random() % alphabet.size()]);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
      if (text.empty()) text = "a";
    }
    try {
      const config::Value root = config::parse(text, "m");
      const std::string json = config::to_json(root);
      config::parse_json(json, "m");  // bad UTF-8 is refused here
      ++read;
    } catch (const InputError&) {
      ++refused;
    }
  }
  CHECK(read > 1000);
  CHECK(refused > 1000);
}
