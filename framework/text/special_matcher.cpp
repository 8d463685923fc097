// SPDX-License-Identifier: Apache-2.0
#include "text/special_matcher.hpp"

#include <algorithm>

namespace redline::text {

SpecialMatcher::SpecialMatcher(const std::vector<std::pair<std::string_view, Token>>& specials) {
  for (const auto& special : specials)
    if (!special.first.empty())
      by_first_byte_[static_cast<std::uint8_t>(special.first[0])].push_back(special);
  for (auto& bucket : by_first_byte_)
    std::sort(bucket.begin(), bucket.end(), [](const auto& a, const auto& b) {
      const std::size_t left = a.first.size(), right = b.first.size();
      return left != right ? left > right : a.second < b.second;
    });
}

SpecialMatcher::Found SpecialMatcher::next(std::string_view text, std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at)
    for (const auto& [special, token] : by_first_byte_[static_cast<std::uint8_t>(text[at])])
      if (text.substr(at).starts_with(special)) return {at, special.size(), token};
  return {text.size(), 0, -1};
}

}  // namespace redline::text
