// SPDX-License-Identifier: Apache-2.0
#include "text/frequencies.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>

#include "files/json.hpp"
#include "redline/error.hpp"

namespace redline::text {
namespace {

constexpr std::string_view kFormat = "redline token frequencies";
constexpr int kVersion = 1;

bool precedes(const Frequencies::Entry& a, const Frequencies::Entry& b) {
  return a.count != b.count ? a.count > b.count : a.token < b.token;
}

std::uint64_t total(const std::vector<Frequencies::Entry>& entries) {
  return std::accumulate(entries.begin(), entries.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& e) { return sum + e.count; });
}

// "" or what is wrong with it.
std::string fault_of(const Frequencies& f) {
  std::vector<bool> is_there(std::max(f.vocab, 0));
  for (const auto& [token, count] : f.entries) {
    if (token < 0 || token >= f.vocab)
      return "token " + std::to_string(token) + " in a vocabulary of " + std::to_string(f.vocab);
    if (is_there[token]) return "token " + std::to_string(token) + " stands twice";
    is_there[token] = true;
  }
  if (!std::ranges::is_sorted(f.entries, precedes)) return "its counts do not fall";
  if (total(f.entries) != f.tokens)
    return "its counts sum to " + std::to_string(total(f.entries)) + ", it names " +
           std::to_string(f.tokens) + " tokens";
  return "";
}

Frequencies parsed(const files::json::object& whole) {
  Frequencies f;
  f.tokenizer_sha256 = files::json::value_to<std::string>(whole.at("tokenizer_sha256"));
  f.vocab = whole.at("vocab").to_number<std::int32_t>();
  f.texts = whole.at("texts").to_number<std::uint64_t>();
  f.tokens = whole.at("tokens").to_number<std::uint64_t>();
  for (const auto& entry : whole.at("counts").as_array())
    f.entries.push_back({entry.at(0).to_number<Token>(), entry.at(1).to_number<std::uint64_t>()});
  return f;
}

}  // namespace

std::vector<Token> Frequencies::best(std::size_t count) const {
  std::vector<Token> ids;
  for (std::size_t k = 0; k < count; ++k) ids.push_back(entries.at(k).token);
  std::ranges::sort(ids);
  return ids;
}

void FrequencyCounter::add(std::string_view text) {
  for (const Token token : tokenizer_.encode(text, Specials::PLAIN_TEXT)) ++counts_[token];
}

void FrequencyCounter::end_text() {
  ++texts_;
  if (const auto end = tokenizer_.eos()) ++counts_[*end];
}

Frequencies FrequencyCounter::result() const {
  Frequencies f{tokenizer_.sha256(), tokenizer_.vocab(), texts_, 0, {}};
  for (Token token = 0; token < f.vocab; ++token)
    if (counts_[token] > 0) f.entries.push_back({token, counts_[token]});
  std::ranges::sort(f.entries, precedes);
  f.tokens = total(f.entries);
  return f;
}

void write_frequencies(const Frequencies& f, const std::filesystem::path& path) {
  files::json::array counts;
  for (const auto& [token, count] : f.entries) counts.push_back({token, count});
  const files::json::object whole{
      {"format", kFormat}, {"version", kVersion}, {"tokenizer_sha256", f.tokenizer_sha256},
      {"vocab", f.vocab},  {"texts", f.texts},    {"tokens", f.tokens},
      {"counts", counts}};
  std::ofstream out(path, std::ios::binary);
  out << files::json::serialize(whole) << "\n";
  if (!out.flush()) throw DeviceError(path.string() + ": cannot be written; name another file");
}

Frequencies read_frequencies(const std::filesystem::path& path) {
  const auto refuse = [&path](const std::string& why) {
    throw InputError(path.string() + ": no token frequencies of redline: " + why +
                     "; make them with `redline frequencies MODEL TEXT... -o FILE`");
  };
  const files::json::value value = files::read_json(path);
  Frequencies f;
  try {
    const files::json::object& whole = value.as_object();
    if (whole.at("format").as_string() != kFormat) refuse("another format");
    if (whole.at("version") != kVersion)
      refuse("version " + files::json::serialize(whole.at("version")) + ", this build reads " +
             std::to_string(kVersion));
    f = parsed(whole);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception&) {
    refuse("expected format, version, tokenizer_sha256, vocab, texts, tokens and counts");
  }
  if (const std::string fault = fault_of(f); !fault.empty()) refuse(fault);
  return f;
}

}  // namespace redline::text
