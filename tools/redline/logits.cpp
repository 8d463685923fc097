// SPDX-License-Identifier: Apache-2.0
#include "redline/logits.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "files/json.hpp"
#include "kv/lease.hpp"
#include "redline/error.hpp"
#include "redline/npy_writer.hpp"

namespace redline::tool {
namespace {

constexpr std::int32_t kRows = 64;  // of one forward

using Ids = std::vector<Token>;
using OnRow = std::function<void(std::int32_t position, std::span<const float> logits)>;

Ids ids_of(const files::json::value& value, const std::string& place) {
  if (!value.is_array()) throw InputError(place + ": expected a JSON list of ids");
  Ids ids;
  for (const auto& item : value.as_array()) {
    if (!item.is_int64() || item.as_int64() < 0 || item.as_int64() > INT32_MAX)
      throw InputError(place + ": " + files::json::serialize(item) + " is no token id");
    ids.push_back(static_cast<Token>(item.as_int64()));
  }
  return ids;
}

std::vector<Ids> read_ids(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw InputError(path + ": cannot read; --ids takes a file of one JSON list a line");
  std::vector<Ids> texts;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::string place = path + ":" + std::to_string(number);
    if (!line.empty()) texts.push_back(ids_of(files::parse_json(line, place), place));
  }
  return texts;
}

void check_ids(const std::vector<Ids>& texts, const model::Decoder& decoder) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (const Token id : texts[i])
      if (id >= decoder.vocab())
        throw InputError("text " + std::to_string(i) + ": id " + std::to_string(id) +
                         ", the vocabulary has " + std::to_string(decoder.vocab()));
    if (static_cast<std::int64_t>(texts[i].size()) > decoder.context())
      throw InputError("text " + std::to_string(i) + ": " + std::to_string(texts[i].size()) +
                       " ids, the context is " + std::to_string(decoder.context()));
  }
}

// [V] of a row: what a short head leaves out cannot come. Held in `whole` if it must be made.
std::span<const float> whole_row(const model::Output& output, std::span<const float> logits,
                                 std::vector<float>& whole) {
  if (output.tokens.empty()) return logits;
  whole.assign(output.vocab, -std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < logits.size(); ++i) whole[output.tokens[i]] = logits[i];
  return whole;
}

// Every position of one text in order, kRows a forward.
void run_text(model::Decoder& decoder, kv::PagePool& pool, const Ids& ids, const OnRow& on_row) {
  kv::Cache cache(pool);
  model::Batch batch;
  std::vector<float> whole;
  for (std::size_t begin = 0; begin < ids.size(); begin += kRows) {
    const auto count = static_cast<std::int32_t>(std::min<std::size_t>(kRows, ids.size() - begin));
    auto lease = kv::Lease::reserve(cache, count);
    if (!lease) throw Error("logits: the pages planned for the longest text do not suffice");
    batch.clear();
    std::vector<std::int32_t> slots(count);
    std::iota(slots.begin(), slots.end(), lease->first_slot());
    for (std::int32_t i = 0; i < count; ++i)
      batch.rows.push_back({.token = ids[begin + i],
                            .position = slots[i],
                            .slot = slots[i],
                            .prefix = slots[i] + 1,
                            .want = model::Want::ROW});
    batch.segments.push_back({&cache, 0, count});
    const model::Output& output = decoder.forward(batch);
    for (std::int32_t i = 0; i < count; ++i)
      on_row(slots[i], whole_row(output, output.logits[i], whole));
    lease->commit(slots);
  }
}

// Ids of the largest logits, the largest first; ties by id.
Ids top_ids(std::span<const float> logits, int top) {
  Ids ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto end = ids.begin() + std::clamp<std::ptrdiff_t>(top, 0, std::ssize(ids));
  std::partial_sort(ids.begin(), end, ids.end(), [&](Token a, Token b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  ids.erase(end, ids.end());
  return ids;
}

void print_json(const Ids& ids, std::span<const float> logits, double log_sum_exp, bool first) {
  std::printf("%s{\"ids\": [", first ? "" : ", ");
  for (std::size_t i = 0; i < ids.size(); ++i) std::printf("%s%d", i ? ", " : "", ids[i]);
  std::printf("], \"logits\": [");
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::printf("%s%.9g", i ? ", " : "", static_cast<double>(logits[ids[i]]));
  std::printf("], \"logsumexp\": %.17g}", log_sum_exp);
}

void print_line(std::size_t text, std::int32_t position, const Ids& ids,
                std::span<const float> logits) {
  std::printf("text %zu position %d:", text, position);
  for (const Token id : ids) std::printf(" %d (%.4f)", id, static_cast<double>(logits[id]));
  std::printf("\n");
}

}  // namespace

int logits(const LogitsOptions& options) {
  const std::vector<Ids> texts = read_ids(options.ids);
  std::size_t longest = 1, positions = 0;
  for (const Ids& ids : texts) longest = std::max(longest, ids.size()), positions += ids.size();
  if (longest > INT32_MAX / 2) throw InputError(options.ids + ": a text is too long");
  LoadedModel loaded(options.model, {.cache_folder = {},
                                     .max_rows = kRows,
                                     .max_positions = static_cast<std::int32_t>(longest),
                                     .progress = {}});
  model::Decoder& decoder = loaded.decoder();
  check_ids(texts, decoder);
  kv::PagePool pool(decoder.kv_shape(), static_cast<std::int32_t>(longest / kv::kPageTokens + 1));
  std::optional<NpyWriter> full;
  if (!options.full.empty())
    full.emplace(options.full, static_cast<std::int64_t>(positions), decoder.vocab());
  if (options.json) std::printf("[");
  for (std::size_t text = 0; text < texts.size(); ++text) {
    if (options.json) std::printf("%s[", text ? ",\n" : "");
    run_text(decoder, pool, texts[text], [&](std::int32_t position, std::span<const float> row) {
      if (full) full->add(row);
      const Ids ids = top_ids(row, options.top);
      if (!options.json) return print_line(text, position, ids, row);
      print_json(ids, row, loaded.device().ops().spread(row.data(), std::ssize(row)).log_sum_exp,
                 position == 0);
    });
    if (options.json) std::printf("]");
  }
  if (options.json) std::printf("]\n");
  if (full) full->close();
  return 0;
}

}  // namespace redline::tool
