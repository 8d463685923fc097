// SPDX-License-Identifier: Apache-2.0
// Biases and bans by token id, and no end before a number of output tokens.
#include <charconv>

#include "redline/plugin.hpp"

namespace {

using redline::Token;

// Splits "a, b" at commas, spaces around each left out.
std::vector<std::string_view> items(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    out.push_back(item);
  }
  return out;
}
template <class T>
T number(std::string_view name, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw redline::InputError(std::string(name) + ": '" + std::string(text) + "' is no number");
  return value;
}

struct Nothing {};

class Bias final : public redline::SamplerOf<Nothing>, public redline::AnyThread {
 public:
  struct Params {
    std::string add, ban;
    void visit(redline::ParameterVisitor& v) {
      v("add", add, "added to logits: id:value with commas between, e.g. 7:-100, 8:2.5");
      v("ban", ban, "ids that are never emitted, with commas between");
    }
  };
  explicit Bias(const Params& p) {
    for (const std::string_view item : items(p.add)) {
      const auto colon = item.find(':');
      if (colon == std::string_view::npos)
        throw redline::InputError("add: '" + std::string(item) +
                                  "' lacks its value: write id:value");
      add_.push_back({number<Token>("add", item.substr(0, colon)),
                      number<float>("add", item.substr(colon + 1))});
    }
    for (const std::string_view item : items(p.ban)) ban_.push_back(number<Token>("ban", item));
  }

 private:
  redline::Slot do_slot() const override { return redline::Slot::BIAS; }
  void edit(const Nothing&, redline::Logits& row) const override {
    for (const auto& [token, delta] : add_) row.add(token, delta);
    for (const Token t : ban_) row.ban(t);
  }
  std::vector<std::pair<Token, float>> add_;
  std::vector<Token> ban_;
};

struct Wait {
  int left = 0;  // tokens until the text may end
  std::vector<Token> stops;
};

class MinTokens final : public redline::SamplerOf<Wait>, public redline::AnyThread {
 public:
  struct Params {
    int n = 0;
    void visit(redline::ParameterVisitor& v) {
      v("n", n, {0, 1e6}, "output tokens before the request's stop tokens are allowed");
    }
  };
  explicit MinTokens(const Params& p) : n_(p.n) {}

 private:
  redline::Slot do_slot() const override { return redline::Slot::BIAS; }
  Wait start(const redline::Sequence& s) const override {
    return {s.prompt_tokens + n_, {s.stop_tokens.begin(), s.stop_tokens.end()}};
  }
  void step(Wait& wait, Token) const override { --wait.left; }
  void edit(const Wait& wait, redline::Logits& row) const override {
    if (wait.left <= 0) return;
    for (const Token t : wait.stops) row.ban(t);
  }
  int n_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Bias>("sample_bias", "biases and bans by token id"),
               redline::entry<MinTokens>("sample_min_tokens", "no end before n output tokens"));
