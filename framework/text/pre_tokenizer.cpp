// SPDX-License-Identifier: Apache-2.0
#include "text/pre_tokenizer.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <vector>

#include "files/utf8.hpp"
#include "redline/error.hpp"

namespace redline::text {

// Unicode's White_Space, spelled out: PCRE2's own \s lacks U+0085 in classes and adds U+180E.
#define SPACE                                                                                    \
  "\\x{9}-\\x{d} \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}" \
  "\\x{3000}"
#define SPACE_RULES "[" SPACE "]+(?![^" SPACE "])|[" SPACE "]+"
#define WORDS(digits)                                                                \
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?[^" SPACE \
  "\\p{L}\\p{N}]+[\\r\\n]*|[" SPACE "]*[\\r\\n]+|" SPACE_RULES

namespace {
constexpr const char* kGpt2 =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" SPACE "\\p{L}\\p{N}]+|" SPACE_RULES;
constexpr const char* kEachDigit = "\\p{N}";
constexpr const char* kQwen2 = WORDS("\\p{N}");
constexpr const char* kLlama3 = WORDS("\\p{N}{1,3}");
}  // namespace

#undef WORDS
#undef SPACE_RULES
#undef SPACE

struct PreTokenizer::Family {
  std::string_view pre;
  std::array<const char*, 2> stages;  // nullptr: no second one
  bool composes, ignores_merges, adds_bos;
};

namespace {

constexpr std::array kFamilies{
    PreTokenizer::Family{"gpt-2", {kGpt2, nullptr}, false, false, false},
    PreTokenizer::Family{"phi-2", {kGpt2, nullptr}, false, false, false},
    PreTokenizer::Family{"smollm", {kEachDigit, kGpt2}, false, false, false},
    PreTokenizer::Family{"starcoder", {kEachDigit, kGpt2}, false, false, false},
    PreTokenizer::Family{"qwen2", {kQwen2, nullptr}, true, false, false},
    PreTokenizer::Family{"deepseek-r1-qwen", {kQwen2, nullptr}, true, false, false},
    PreTokenizer::Family{"llama-bpe", {kLlama3, nullptr}, false, true, true},
    PreTokenizer::Family{"llama3", {kLlama3, nullptr}, false, true, true},
};

const PreTokenizer::Family& family_of(std::string_view pre) {
  std::string known;
  for (const PreTokenizer::Family& family : kFamilies) {
    if (family.pre == pre) return family;
    known += (known.empty() ? "" : ", ") + std::string(family.pre);
  }
  throw InputError("pre-tokenizer " + files::printable(pre) + " is not known; known are " + known +
                   ": take a model of one of these families");
}

}  // namespace

struct PreTokenizer::Pattern {
  std::unique_ptr<pcre2_code, void (*)(pcre2_code*)> code{nullptr, pcre2_code_free};

  void compile(const char* text) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text), PCRE2_ZERO_TERMINATED,
                             PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
    if (!code)
      throw Error("PCRE2 refuses the pre-tokenizer's pattern at " + std::to_string(offset) +
                  " (its error " + std::to_string(error) + "); redline needs PCRE2 10.40 or newer");
    // Without a JIT (some machines forbid it) the interpreter gives the same answer, slower.
    pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
  }
};

PreTokenizer::PreTokenizer(std::string_view pre)
    : family_(&family_of(pre)), patterns_(std::make_unique<Pattern[]>(family_->stages.size())) {
  for (std::size_t stage = 0; stage < family_->stages.size(); ++stage)
    if (family_->stages[stage] != nullptr) patterns_[stage].compile(family_->stages[stage]);
}
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer::~PreTokenizer() = default;

bool PreTokenizer::composes() const { return family_->composes; }
bool PreTokenizer::ignores_merges() const { return family_->ignores_merges; }
bool PreTokenizer::adds_bos() const { return family_->adds_bos; }

void PreTokenizer::split(std::string_view text, const Sink& word) const {
  files::for_each_run(text, [&](std::string_view run, bool valid) {
    valid ? cut(run, 0, word) : word(run);  // no pattern speaks of ill-formed bytes
  });
}

// Matches of the stage's pattern are pieces, and so is what lies between two of them.
void PreTokenizer::cut(std::string_view text, std::size_t stage, const Sink& word) const {
  const pcre2_code* code = stage < family_->stages.size() ? patterns_[stage].code.get() : nullptr;
  if (code == nullptr) return word(text);
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> match(
      pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
  std::size_t done = 0;
  while (done < text.size()) {
    const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                  done, PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0)
      throw Error("PCRE2 gave up splitting a text: its error " + std::to_string(found));
    if (bounds[0] > done) cut(text.substr(done, bounds[0] - done), stage + 1, word);
    cut(text.substr(bounds[0], bounds[1] - bounds[0]), stage + 1, word);
    done = bounds[1];
  }
  if (done < text.size()) cut(text.substr(done), stage + 1, word);
}

}  // namespace redline::text
