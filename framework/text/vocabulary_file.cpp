// SPDX-License-Identifier: Apache-2.0
#include "text/vocabulary_file.hpp"

#include <algorithm>
#include <limits>

#include "files/utf8.hpp"
#include "redline/error.hpp"
#include "text/byte_alphabet.hpp"
#include "text/pre_tokenizer.hpp"

namespace redline::text {
namespace {

// Texts that end a generation in the families at hand, where the file names no id for them.
constexpr std::array<std::string_view, 9> kEndTexts{
    "<|endoftext|>", "<|im_end|>",    "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
    "<|end|>",       "<end_of_turn>", "<EOT>",      "</s>"};

[[noreturn]] void refuse(const files::Gguf& model, const std::string& why) {
  throw InputError(model.path().string() + ": " + why);
}

PieceKind piece_kind(const files::Gguf& model, std::int64_t number, std::size_t token) {
  if (number >= 1 && number <= 6) return static_cast<PieceKind>(number);
  refuse(model, "token " + std::to_string(token) + " is of type " + std::to_string(number) +
                    "; token types are 1 to 6: convert the model again");
}

}  // namespace

VocabularyFile::VocabularyFile(const files::Gguf& model) {
  const std::string kind = model.text("tokenizer.ggml.model");
  if (kind != "gpt2")
    refuse(model, "tokenizer model " + files::printable(kind) +
                      " is not known; known is gpt2 (byte-level BPE): take a model that has it");
  pre = model.text("tokenizer.ggml.pre");
  adds_bos = text::adds_bos(model);
  read_pieces(model);
  read_specials(model);
}

void VocabularyFile::read_pieces(const files::Gguf& model) {
  const auto texts = model.texts("tokenizer.ggml.tokens");
  if (texts.empty() || texts.size() > std::numeric_limits<Token>::max())
    refuse(model, "a vocabulary of " + std::to_string(texts.size()) + " tokens");
  std::vector<std::int64_t> kinds;
  if (model.has("tokenizer.ggml.token_type")) {
    kinds = model.integers("tokenizer.ggml.token_type");
    if (kinds.size() != texts.size())
      refuse(model, std::to_string(texts.size()) + " tokens and " + std::to_string(kinds.size()) +
                        " token types; there must be one each: convert the model again");
  }
  pieces.reserve(texts.size());
  for (std::size_t token = 0; token < texts.size(); ++token) {
    const PieceKind piece_kind_here =
        kinds.empty() ? PieceKind::NORMAL : piece_kind(model, kinds[token], token);
    auto bytes = piece_kind_here == PieceKind::NORMAL ? bytes_of(texts[token]) : std::nullopt;
    const bool spelled = bytes.has_value();
    pieces.push_back({spelled ? *std::move(bytes) : texts[token], piece_kind_here, spelled});
  }
}

std::optional<Token> VocabularyFile::special(const files::Gguf& model,
                                             std::string_view name) const {
  const std::string key = "tokenizer.ggml." + std::string(name) + "_token_id";
  if (!model.has(key)) return std::nullopt;
  const std::int64_t id = model.integer(key);
  if (id < 0 || id >= static_cast<std::int64_t>(pieces.size()))
    refuse(model, "key " + files::printable(key) + " is " + std::to_string(id) +
                      " and the vocabulary has " + std::to_string(pieces.size()) + " tokens");
  return static_cast<Token>(id);
}

void VocabularyFile::read_specials(const files::Gguf& model) {
  bos = special(model, "bos");
  eos = special(model, "eos");
  for (const std::string_view name : {"eos", "eot", "eom"})
    if (const auto token = special(model, name)) end_of_generation.push_back(*token);
  for (std::size_t token = 0; token < pieces.size(); ++token) {
    const Piece& piece = pieces[token];
    const bool named =
        std::find(kEndTexts.begin(), kEndTexts.end(), piece.bytes) != kEndTexts.end();
    if (named && (piece.kind == PieceKind::CONTROL || piece.kind == PieceKind::USER_DEFINED))
      end_of_generation.push_back(static_cast<Token>(token));
  }
  std::sort(end_of_generation.begin(), end_of_generation.end());
  end_of_generation.erase(std::unique(end_of_generation.begin(), end_of_generation.end()),
                          end_of_generation.end());
}

bool adds_bos(const files::Gguf& model) {
  const bool family = PreTokenizer(model.text("tokenizer.ggml.pre")).adds_bos();
  return model.boolean("tokenizer.ggml.add_bos_token", family);
}

}  // namespace redline::text
