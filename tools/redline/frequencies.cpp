// SPDX-License-Identifier: Apache-2.0
#include "redline/frequencies.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "files/json.hpp"
#include "files/model_store.hpp"
#include "redline/error.hpp"
#include "redline/progress.hpp"
#include "text/frequencies.hpp"

namespace redline::tool {
namespace {

constexpr std::size_t kPieceBytes = 1 << 16;

std::string whole_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.fail() || std::filesystem::is_directory(path))
    throw InputError(path + ": cannot be read; name files of text or of JSON lines");
  return text;
}

// Where a piece of a long text may end: before a line that begins with no space, so that no token
// of either side would have crossed the cut.
std::size_t cut_of(std::string_view text) {
  for (std::size_t at = kPieceBytes; at < text.size(); ++at)
    if (text[at - 1] == '\n' && std::isspace(static_cast<unsigned char>(text[at])) == 0) return at;
  return text.size();
}

class Reader {
 public:
  Reader(const FrequenciesOptions& options, text::FrequencyCounter& counter, ByteProgress& progress)
      : options_(options), counter_(counter), progress_(progress) {}

  void read(const std::string& path) {
    const std::string text = whole_of(path);
    path.ends_with(".jsonl") ? add_lines(text, path) : add_text(text);
    progress_.update(done_);
  }

 private:
  void add_text(std::string_view text) {
    while (!text.empty()) {
      const std::size_t size = cut_of(text);
      counter_.add(text.substr(0, size));
      text.remove_prefix(size);
      progress_.update(done_ += size);
    }
    counter_.end_text();
  }

  void add_lines(std::string_view text, const std::string& path) {
    const std::size_t before = found_;
    for (std::size_t line = 1; !text.empty(); ++line) {
      const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
      const std::string place = path + ":" + std::to_string(line);
      if (text.substr(0, size).find_first_not_of(" \r\n") != std::string_view::npos)
        add_value(files::parse_json(text.substr(0, size), place), options_.fields.empty());
      text.remove_prefix(size);
      progress_.update(done_ += size);
    }
    if (found_ == before)
      throw InputError(path + ": no line has a text" +
                       (options_.fields.empty() ? "" : " in a field " + options_.fields.front()) +
                       "; name others by --field");
  }

  // Texts at any depth, of the fields that count or below them.
  void add_value(const files::json::value& value, bool counts) {
    if (const auto* text = value.if_string(); text && counts) {
      counter_.add({text->data(), text->size()});
      counter_.end_text();
      ++found_;
    }
    if (const auto* list = value.if_array())
      for (const auto& item : *list) add_value(item, counts);
    if (const auto* object = value.if_object())
      for (const auto& [key, item] : *object)
        add_value(item, counts || std::ranges::find(options_.fields,
                                                    std::string_view(key.data(), key.size())) !=
                                      options_.fields.end());
  }

  const FrequenciesOptions& options_;
  text::FrequencyCounter& counter_;
  ByteProgress& progress_;
  std::size_t done_ = 0, found_ = 0;
};

}  // namespace

int frequencies(const FrequenciesOptions& options) {
  const text::Tokenizer tokenizer(files::Gguf::open(files::locate_model(options.model)));
  std::uint64_t bytes = 0;
  for (const std::string& path : options.texts) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(path, missing);
    if (missing) throw InputError(path + ": cannot be read: " + missing.message());
    bytes += size;
  }
  text::FrequencyCounter counter(tokenizer);
  ByteProgress progress("counting", bytes);
  Reader reader(options, counter, progress);
  for (const std::string& path : options.texts) reader.read(path);
  progress.end();
  const text::Frequencies found = counter.result();
  text::write_frequencies(found, options.out);
  std::printf("%s: %zu distinct of %d tokens, %llu in all, from %llu texts\n", options.out.c_str(),
              found.entries.size(), found.vocab, static_cast<unsigned long long>(found.tokens),
              static_cast<unsigned long long>(found.texts));
  return 0;
}

}  // namespace redline::tool
