// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.hpp"

#include <unordered_map>

#include "files/sha256.hpp"
#include "files/utf8.hpp"
#include "redline/error.hpp"
#include "text/bpe.hpp"
#include "text/normalize.hpp"
#include "text/pre_tokenizer.hpp"
#include "text/special_matcher.hpp"
#include "text/vocabulary_file.hpp"

namespace redline::text {
namespace {

using Ids = std::unordered_map<std::string_view, Token>;

// Of equal pieces the last counts, as in a vocabulary read into a dictionary.
Ids reachable(const std::vector<Piece>& pieces) {
  Ids ids;
  ids.reserve(pieces.size());
  for (std::size_t token = 0; token < pieces.size(); ++token)
    if (pieces[token].spelled) ids[pieces[token].bytes] = static_cast<Token>(token);
  return ids;
}

std::vector<std::pair<std::string_view, Token>> specials_of(const std::vector<Piece>& pieces) {
  std::vector<std::pair<std::string_view, Token>> specials;
  for (std::size_t token = 0; token < pieces.size(); ++token) {
    const Piece& piece = pieces[token];
    if (piece.kind == PieceKind::CONTROL || piece.kind == PieceKind::USER_DEFINED)
      specials.emplace_back(piece.bytes, static_cast<Token>(token));
  }
  return specials;
}

}  // namespace

struct Tokenizer::Impl {
  VocabularyFile file;
  std::vector<std::string> merges;  // kept for the hash
  PreTokenizer pre;
  Ids ids;  // views of file.pieces
  Bpe bpe;
  std::vector<std::pair<std::string_view, Token>> specials;
  SpecialMatcher matcher;

  explicit Impl(const files::Gguf& model)
      : file(model),
        merges(model.texts("tokenizer.ggml.merges").begin(),
               model.texts("tokenizer.ggml.merges").end()),
        pre(file.pre),
        ids(reachable(file.pieces)),
        bpe(ids, merges),
        specials(specials_of(file.pieces)),
        matcher(specials) {}

  const Piece& piece(Token token) const {
    if (token < 0 || static_cast<std::size_t>(token) >= file.pieces.size())
      throw InputError("token " + std::to_string(token) + " is outside the vocabulary of " +
                       std::to_string(file.pieces.size()) + " tokens");
    return file.pieces[static_cast<std::size_t>(token)];
  }

  void encode_plain(std::string_view text, std::vector<Token>& out) const {
    const std::string composed = pre.composes() ? compose(text) : std::string();
    pre.split(pre.composes() ? composed : text, [&](std::string_view word) {
      const auto whole = pre.ignores_merges() ? ids.find(word) : ids.end();
      whole == ids.end() ? bpe.encode(word, out) : out.push_back(whole->second);
    });
  }
};

Tokenizer::Tokenizer(const files::Gguf& model) : impl_(std::make_unique<Impl>(model)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<Token> Tokenizer::encode(std::string_view text, Specials specials) const {
  std::vector<Token> out;
  if (specials == Specials::PLAIN_TEXT) {
    impl_->encode_plain(text, out);
    return out;
  }
  for (std::size_t done = 0; done < text.size();) {
    const SpecialMatcher::Found found = impl_->matcher.next(text, done);
    impl_->encode_plain(text.substr(done, found.begin - done), out);
    if (found.token >= 0) out.push_back(found.token);
    done = found.begin + found.bytes;
  }
  return out;
}

std::string Tokenizer::decode(std::span<const Token> tokens) const {
  std::string out;
  for (const Token token : tokens) out += impl_->piece(token).bytes;
  return out;
}

std::string_view Tokenizer::bytes(Token token) const { return impl_->piece(token).bytes; }

bool Tokenizer::is_control(Token token) const {
  const PieceKind kind = impl_->piece(token).kind;
  return kind == PieceKind::CONTROL || kind == PieceKind::UNKNOWN || kind == PieceKind::UNUSED;
}

bool Tokenizer::is_padding(Token token) const {
  return impl_->piece(token).kind == PieceKind::UNUSED;
}

std::int32_t Tokenizer::vocab() const {
  return static_cast<std::int32_t>(impl_->file.pieces.size());
}
const std::string& Tokenizer::pre() const { return impl_->file.pre; }
bool Tokenizer::add_bos() const { return impl_->file.adds_bos; }
std::optional<Token> Tokenizer::bos() const { return impl_->file.bos; }
std::optional<Token> Tokenizer::eos() const { return impl_->file.eos; }
std::span<const Token> Tokenizer::end_of_generation() const {
  return impl_->file.end_of_generation;
}
const std::string& Tokenizer::missing_bytes() const { return impl_->bpe.missing_bytes(); }

std::optional<Token> Tokenizer::find(std::string_view bytes) const {
  for (const auto& [special, token] : impl_->specials)
    if (special == bytes) return token;
  const auto found = impl_->ids.find(bytes);
  if (found == impl_->ids.end()) return std::nullopt;
  return found->second;
}

std::string Tokenizer::sha256() const {
  files::Sha256 hash;
  const auto add = [&](std::string_view text) {  // a length before each, so that no two lists meet
    hash.add(std::to_string(text.size()) + ":");
    hash.add(text);
  };
  for (const Piece& piece : impl_->file.pieces) {
    add(piece.bytes);
    add(std::to_string(static_cast<int>(piece.kind)));
  }
  for (const std::string& merge : impl_->merges) add(merge);
  add(impl_->file.pre);
  add(std::to_string(impl_->file.bos.value_or(-1)));
  add(std::to_string(impl_->file.eos.value_or(-1)));
  for (const Token token : impl_->file.end_of_generation) add(std::to_string(token));
  add(impl_->file.adds_bos ? "bos" : "");
  return hash.hex();
}

}  // namespace redline::text
