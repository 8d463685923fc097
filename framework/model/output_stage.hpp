// SPDX-License-Identifier: Apache-2.0
// The end of a forward: logits of the rows that want them, what is asked of them, and the hidden
// states that were tapped on the way.
#pragma once
#include <vector>

#include "model/pass.hpp"

namespace redline::model {

class OutputStage {
 public:
  // tokens: of the logits; empty: all. stored: taps whose states go into every row's slot, for
  // learned heads. Error as begin().
  OutputStage(const Shape& shape, std::span<const Token> tokens, std::int32_t rows,
              std::span<const Tap> stored);
  void begin(const Batch& batch);  // Error: a tap at a layer the model lacks
  // The residual stream before layer `layer`; before layer L it is what the final norm takes.
  void take_layer_input(const Pass& pass, std::int32_t layer);
  void take_final_norm(const Pass& pass);
  void finish(const Pass& pass, const Batch& batch, const Weights& weights);
  const Output& output() const { return output_; }

 private:
  struct OpenTap {
    std::int32_t layer;  // its input; L: the last one's output; L + 1: the final norm
    std::size_t index;
  };
  void take(const Pass& pass, std::int32_t layer, const float* values);
  void store(const Pass& pass, std::size_t tap, const float* values) const;

  std::int32_t layers_;
  std::int64_t hidden_;
  std::vector<OpenTap> open_, stored_;
  std::vector<float> tapped_;  // [taps, T, D]
  Output output_;
};

}  // namespace redline::model
