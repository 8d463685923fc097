// SPDX-License-Identifier: Apache-2.0
// One exchange: the questions written into the shared memory, and where the answers will be.
#pragma once
#include <vector>

#include "layout.hpp"
#include "memory.hpp"
#include "redline/types.hpp"

namespace piped {

struct Question {
  Ask about;  // but for its text
  std::vector<redline::Token> text;
};

class Exchange {
 public:
  Exchange(Memory& memory, Mode mode, std::int32_t vocab, std::vector<Question> questions,
           std::span<const std::int64_t> ended)
      : memory_(memory) {
    header_.mode = mode;
    header_.vocab = vocab;
    header_.asks = static_cast<std::int32_t>(questions.size());
    header_.ended = static_cast<std::int32_t>(ended.size());
    lay_out(questions);
    memory_.hold(header_.bytes);
    memory_.put(0, std::span<const Header>(&header_, 1));
    for (std::size_t k = 0; k < questions.size(); ++k) {
      memory_.put(sizeof header_ + k * sizeof(Ask), std::span<const Ask>(&questions[k].about, 1));
      memory_.put(questions[k].about.tokens_at, std::span<const redline::Token>(questions[k].text));
    }
    memory_.put(header_.ended_at, ended);
    // What is not answered must not read as an answer to the exchange before.
    const std::vector<std::int32_t> unanswered(questions.size(), -1);
    memory_.put(header_.counts_at, std::span<const std::int32_t>(unanswered));
  }

  // What the process wrote: read once, for it may write again.
  std::int32_t count(std::size_t k) const {
    std::int32_t count = 0;
    memory_.get(header_.counts_at + k * sizeof count, std::span(&count, 1));
    return count;
  }
  template <class T>
  std::vector<T> payload(std::size_t k, std::size_t size) const {
    std::vector<T> out(size);
    memory_.get(header_.payload_at + k * header_.stride, std::span(out));
    return out;
  }

 private:
  void lay_out(std::vector<Question>& questions) {
    std::size_t end = aligned(sizeof header_ + questions.size() * sizeof(Ask)), most = 0;
    const auto place = [&end](std::size_t bytes) {
      const std::size_t at = end;
      end = aligned(end + bytes);
      return static_cast<std::int64_t>(at);
    };
    for (auto& [about, text] : questions) {
      about.tokens = static_cast<std::int32_t>(text.size());
      about.tokens_at = place(text.size() * sizeof(redline::Token));
      most = std::max(most, about.max_nodes * sizeof(GivenNode));
    }
    header_.ended_at = place(header_.ended * sizeof(std::int64_t));
    header_.counts_at = place(questions.size() * sizeof(std::int32_t));
    const std::size_t stride = aligned(header_.mode == ROW ? header_.vocab * sizeof(float) : most);
    header_.stride = static_cast<std::int64_t>(stride);
    header_.payload_at = place(questions.size() * stride);
    header_.bytes = static_cast<std::int64_t>(end);
  }

  Memory& memory_;
  Header header_;
};

}  // namespace piped
