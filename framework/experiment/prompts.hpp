// SPDX-License-Identifier: Apache-2.0
// From items to requests: chat template, tokens, one BOS where the model wants it, limits checked
// before the first request runs.
#pragma once
#include <vector>

#include "engine/request.hpp"
#include "experiment/cell.hpp"
#include "experiment/data_set.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace redline::experiment {

std::vector<std::string> categories_of(const std::vector<Item>& items);  // a request's code: index

// InputError naming the item's file and line: a doubled BOS, a prompt that leaves no room for an
// answer within max_model_len.
std::vector<engine::Request> requests_of(const std::vector<Item>& items, const Cell& cell,
                                         const text::Tokenizer& tokenizer,
                                         const text::ChatTemplate& chat);

// The same shapes as real requests, few tokens, keys of their own (another for each attempt).
engine::Request warmup_of(const Item& item, const engine::Request& request, std::int32_t attempt,
                          std::int32_t index);

}  // namespace redline::experiment
