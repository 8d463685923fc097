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
#include "step/watch.hpp"

namespace redline::step {

// No distribution follows: the error of the request whose row it is, not of the run.
class BadRow : public Error {
 public:
  using Error::Error;
};

class Chain {
 public:
  // One memory a link: what the links know of a text. Forked along a draft, so that penalties and
  // masks follow each path.
  using Path = List<std::unique_ptr<Sampler::Memory>>;

  explicit Chain(std::vector<std::unique_ptr<Sampler>> links = {},
                 const kernels::Ops& ops = kernels::ops(kernels::best()), Watch* watch = nullptr);

  Path begin(const redline::Sequence& sequence) const;  // after all of its tokens
  void advance(Path& path, Token token) const;
  Path fork(const Path& from, Token token) const;

  // The row that follows a text. BadRow: NaN or +inf among the logits, or nothing left of them.
  redline::Row apply(const Path& path, std::span<const float> logits) const;  // [V]
  // Likewise, when only some tokens may follow: logits [tokens], rising ids. All others have p = 0,
  // and no work is done for them.
  redline::Row apply(const Path& path, std::span<const float> logits, std::span<const Token> tokens,
                     std::int32_t vocab) const;

 private:
  redline::Row edit(const Path& path, Logits row) const;
  std::vector<std::unique_ptr<Sampler>> links_;
  const kernels::Ops& ops_;
  Watch* watch_;
  mutable std::vector<float> work_;  // [V] what the links edit; one thread applies
};

}  // namespace redline::step
