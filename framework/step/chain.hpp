// SPDX-License-Identifier: Apache-2.0
// From logits to a distribution: the request's sampler links in slot order, then softmax. The same
// code serves plain, verify and bonus rows and the rows of a draft model.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "redline/kernels/ops.hpp"
#include "redline/row.hpp"
#include "redline/sampler.hpp"

namespace redline::step {

class Chain {
 public:
  // One memory a link: what the links know of a text. Forked along a draft, so that penalties and
  // masks follow each path.
  using Path = std::vector<std::unique_ptr<Sampler::Memory>>;

  explicit Chain(std::vector<std::unique_ptr<Sampler>> links = {},
                 const kernels::Ops& ops = kernels::ops(kernels::best()));

  Path begin(const redline::Sequence& sequence) const;  // after all of its tokens
  void advance(Path& path, Token token) const;
  Path fork(const Path& from, Token token) const;

  // The row that follows a text. Error (of that request alone): NaN or +inf in the logits, or no
  // finite logit left.
  redline::Row apply(const Path& path, std::span<const float> logits) const;  // [V]

 private:
  std::vector<std::unique_ptr<Sampler>> links_;
  const kernels::Ops& ops_;
};

}  // namespace redline::step
