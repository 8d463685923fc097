// SPDX-License-Identifier: Apache-2.0
#include "experiment/prompts.hpp"

#include <algorithm>

namespace redline::experiment {
namespace {

std::vector<Token> tokens_of(const Item& item, const text::Tokenizer& tokenizer,
                             const text::ChatTemplate& chat) {
  const std::string text = item.messages.empty() ? item.prompt : chat.render(item.messages);
  std::vector<Token> ids = tokenizer.encode(text, text::Specials::PARSE);
  const std::optional<Token> bos = tokenizer.bos();
  if (!bos) return ids;
  if (tokenizer.add_bos() && (ids.empty() || ids.front() != *bos)) ids.insert(ids.begin(), *bos);
  if (ids.size() > 1 && ids[0] == *bos && ids[1] == *bos)
    throw InputError(item.where + ": the prompt begins with two BOS tokens (" +
                     std::to_string(*bos) + "); leave the one in the text out");
  return ids;
}

void check_room(const Item& item, const std::vector<Token>& ids, const Cell& cell) {
  if (ids.empty()) throw InputError(item.where + ": the prompt gives no token");
  if (static_cast<std::int64_t>(ids.size()) < cell.engine.max_model_len) return;
  throw InputError(item.where + ": the prompt has " + std::to_string(ids.size()) +
                   " tokens and engine.max_model_len is " +
                   std::to_string(cell.engine.max_model_len) + "; raise it or leave the item out");
}

}  // namespace

std::vector<std::string> categories_of(const std::vector<Item>& items) {
  std::vector<std::string> categories;
  for (const Item& item : items)
    if (std::ranges::find(categories, item.category) == categories.end())
      categories.push_back(item.category);
  return categories;
}

std::vector<engine::Request> requests_of(const std::vector<Item>& items, const Cell& cell,
                                         const text::Tokenizer& tokenizer,
                                         const text::ChatTemplate& chat) {
  const std::vector<std::string> categories = categories_of(items);
  std::vector<engine::Request> requests;
  for (const Item& item : items) {
    engine::Request r;
    r.key = engine::request_key(item.data_set, item.question, 0, 0);
    r.seed = cell.seed;
    r.prompt = tokens_of(item, tokenizer, chat);
    check_room(item, r.prompt, cell);
    r.max_tokens = cell.generate.max_tokens;
    r.stop_strings = cell.generate.stop;
    r.ignore_eos = cell.generate.ignore_eos;
    r.question_id = item.question;
    r.category = static_cast<std::uint16_t>(std::ranges::find(categories, item.category) -
                                            categories.begin());
    requests.push_back(std::move(r));
  }
  return requests;
}

engine::Request warmup_of(const Item& item, const engine::Request& request, std::int32_t attempt,
                          std::int32_t index) {
  constexpr std::int32_t kWarmupTokens = 16;
  engine::Request warmup = request;
  warmup.key =
      engine::request_key(item.data_set + "/warmup", item.question,
                          static_cast<std::uint32_t>(attempt), static_cast<std::uint32_t>(index));
  warmup.max_tokens = std::min(request.max_tokens, kWarmupTokens);
  warmup.is_warmup = true;
  warmup.repeat = static_cast<std::uint16_t>(index);
  return warmup;
}

}  // namespace redline::experiment
