// SPDX-License-Identifier: Apache-2.0
#include "engine/padded_forward.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace redline::engine {

const model::Output& PaddedForward::forward(const model::Batch& batch) {
  for (const model::Row& row : batch.rows)
    if (row.token >= inner_.vocab())
      throw Error("draft model: token " + std::to_string(row.token) +
                  " is in the target's padded tail; the draft knows " +
                  std::to_string(inner_.vocab()) + " tokens. This step is decoded plainly");
  const model::Output& inner = inner_.forward(batch);
  output_ = inner;
  output_.vocab = vocab_;
  if (!output_.tokens.empty()) return output_;  // of some tokens alone: none of them in the tail
  const auto wanted = std::count_if(inner.logits.begin(), inner.logits.end(),
                                    [](const auto& row) { return !row.empty(); });
  rows_.assign(static_cast<std::size_t>(wanted) * vocab_, -std::numeric_limits<float>::infinity());
  float* out = rows_.data();
  for (auto& row : output_.logits) {
    if (row.empty()) continue;
    std::copy_n(row.begin(), std::min<std::size_t>(row.size(), vocab_), out);
    row = {out, static_cast<std::size_t>(vocab_)};
    out += vocab_;
  }
  return output_;
}

}  // namespace redline::engine
