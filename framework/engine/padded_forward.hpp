// SPDX-License-Identifier: Apache-2.0
// A draft model whose vocabulary differs from the target's in its padded tail only: rows are cut or
// filled with -inf to the target's V, so that such an id is never drafted.
#pragma once
#include "model/forward.hpp"

namespace redline::engine {

class PaddedForward final : public model::Forward {
 public:
  PaddedForward(model::Forward& inner, std::int32_t vocab) : inner_(inner), vocab_(vocab) {}
  std::int32_t vocab() const override { return vocab_; }
  std::int32_t context() const override { return inner_.context(); }
  std::int32_t max_rows() const override { return inner_.max_rows(); }
  kv::KvShape kv_shape() const override { return inner_.kv_shape(); }
  const model::Output& forward(const model::Batch& batch) override;

 private:
  model::Forward& inner_;
  std::int32_t vocab_;
  std::vector<float> rows_;  // [wanted, V]
  model::Output output_;
};

}  // namespace redline::engine
