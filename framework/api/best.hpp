// SPDX-License-Identifier: Apache-2.0
// The m best of a stream of (token, value), best first, ties to the token met first. One pass; a
// value below the worst kept costs one compare.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "redline/types.hpp"

namespace redline {

template <class T>
class Best {
 public:
  explicit Best(std::size_t m) : m_(m) {}
  void offer(Token token, T value) {  // tokens must come in rising order
    if (heap_.size() == m_) {
      if (m_ == 0 || !(value > heap_.front().second)) return;
      std::pop_heap(heap_.begin(), heap_.end(), better);
      heap_.pop_back();
    }
    heap_.emplace_back(token, value);
    std::push_heap(heap_.begin(), heap_.end(), better);
  }
  std::vector<std::pair<Token, T>> take() && {
    std::sort_heap(heap_.begin(), heap_.end(), better);
    return std::move(heap_);
  }

 private:
  static bool better(const std::pair<Token, T>& a, const std::pair<Token, T>& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  }
  std::size_t m_;
  std::vector<std::pair<Token, T>> heap_;  // the worst in front
};

}  // namespace redline
