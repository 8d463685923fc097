// SPDX-License-Identifier: Apache-2.0
#include "redline/tokenize.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "files/json.hpp"
#include "files/model_store.hpp"
#include "files/utf8.hpp"
#include "redline/error.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace redline::tool {
namespace {

std::string place(const TokenizeOptions& options, std::size_t line) {
  return (options.file.empty() ? "standard input" : options.file) + ":" + std::to_string(line);
}

std::vector<text::Message> conversation(std::string_view line, const std::string& place) {
  std::vector<text::Message> messages;
  const files::json::value parsed = files::parse_json(line, place);
  try {
    for (const auto& entry : parsed.as_array())
      messages.push_back({files::json::value_to<std::string>(entry.as_object().at("role")),
                          files::json::value_to<std::string>(entry.as_object().at("content"))});
  } catch (const std::exception&) {
    throw InputError(place + R"(: not a list of {"role": ..., "content": ...})");
  }
  return messages;
}

std::string unescaped(std::string_view line, const std::string& place) {
  const files::json::value parsed = files::parse_json(line, place);
  if (!parsed.is_string()) throw InputError(place + ": not a JSON string");
  return files::json::value_to<std::string>(parsed);
}

class Printer {
 public:
  Printer(const text::Tokenizer& tokenizer, const TokenizeOptions& options)
      : tokenizer_(tokenizer), options_(options) {}

  void print(std::string_view text) {
    if (options_.render) {
      options_.json ? put(files::json::serialize(files::json::string(text)) + "\n")
                    : put(std::string(text) + "\n");
      return;
    }
    const bool specials = options_.special || options_.chat;
    const auto ids =
        tokenizer_.encode(text, specials ? text::Specials::PARSE : text::Specials::PLAIN_TEXT);
    std::string out;
    for (const Token id : ids) {
      if (options_.json) {
        out += (out.empty() ? "" : ", ") + std::to_string(id);
      } else {
        out += std::to_string(id) + "\t" + files::printable(tokenizer_.bytes(id)) + "\n";
      }
    }
    put((options_.json ? "[" + out + "]" : out) + "\n");
    for (const char byte : text)
      lost_ += tokenizer_.missing_bytes().find(byte) != std::string::npos;
  }

  void warn() const {
    if (lost_ > 0)
      std::fprintf(stderr,
                   "redline: warning: %zu bytes have no token in this vocabulary and were "
                   "left out\n",
                   lost_);
  }

 private:
  static void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }
  const text::Tokenizer& tokenizer_;
  const TokenizeOptions& options_;
  std::size_t lost_ = 0;
};

void each_line(const TokenizeOptions& options,
               const std::function<void(std::string, std::size_t)>& use) {
  if (!options.text.empty()) return use(options.text, 1);
  std::ifstream file;
  if (!options.file.empty()) {
    file.open(options.file, std::ios::binary);
    if (!file) throw InputError(options.file + ": cannot be read");
  }
  std::istream& in = options.file.empty() ? std::cin : file;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) use(std::move(line), ++number);
}

}  // namespace

int tokenize(const TokenizeOptions& options) {
  const files::Gguf model = files::Gguf::open(files::locate_model(options.model));
  const text::Tokenizer tokenizer(model);
  std::optional<text::ChatTemplate> chat;
  if (options.chat) chat.emplace(model, options.chat_template);
  Printer printer(tokenizer, options);
  each_line(options, [&](std::string line, std::size_t number) {
    if (chat) {
      line = chat->render(conversation(line, place(options, number)));
    } else if (options.escaped) {
      line = unescaped(line, place(options, number));
    }
    printer.print(line);
  });
  printer.warn();
  return 0;
}

}  // namespace redline::tool
