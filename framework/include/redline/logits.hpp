// SPDX-License-Identifier: Apache-2.0
// The logits of one row and the edits a sampler link may make. Edits are named, not array writes,
// so that they can run where the row lives; cuts (keep_*) leave a short list and no V-sized pass
// after.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "redline/row.hpp"

namespace redline {
inline namespace v1 {

class REDLINE_API Logits {  // [engine thread]
 public:
  // Error for a value that is NaN or +infinity; -infinity is a banned token.
  explicit Logits(std::vector<float> values);  // [V]
  explicit Logits(std::span<float> values);    // [V], edits the caller's buffer in place
  Logits(Logits&&) = default;
  Logits& operator=(Logits&&) = default;  // no copies: they would share or duplicate V floats

  std::int32_t vocab() const { return static_cast<std::int32_t>(values_.size()); }
  float at(Token token) const;  // -infinity: banned or cut

  void set(Token token, float value);  // no effect on a cut token
  void add(Token token, float delta);
  void scale(float factor);  // above 0
  void ban(Token token);
  // Ties go to the lowest id; each keeps at least one token.
  void keep_top(std::size_t count);
  void keep_top_p(double mass);   // the fewest best tokens that hold `mass`
  void keep_min_p(double share);  // tokens at least `share` as probable as the best
  void keep_argmax();
  std::span<float> values();  // counted, like Row::to_dense

  std::optional<Token> single() const;                   // the one token a cut left
  std::span<const Token> kept() const { return kept_; }  // rising; empty: never cut
  Row row() const;  // the softmax: a point, a sparse or a dense row

 private:
  friend class Sampler;
  struct Lost {
    Token token = kNone;
    float value = 0;
  };
  void open_link();   // a mask that would empty the support ...
  void close_link();  // ... keeps the best token it found allowed
  bool is_empty() const;
  std::vector<float> weights() const;  // [support] exp(logit - highest)
  std::vector<Token> best(std::size_t count) const;
  template <class F>
  void for_each(F&& visit) const;
  template <class F>
  void keep_if(F&& wanted);

  std::vector<float> own_;
  std::span<float> values_;  // [V]
  std::vector<Token> kept_;
  Lost banned_;          // by this link
  bool is_raw_ = false;  // values() was handed out since open_link
};

}  // namespace v1
}  // namespace redline
