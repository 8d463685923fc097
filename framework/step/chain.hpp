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

// Logits as a model gave them.
struct RawRow {
  std::span<const float> logits;
  std::span<const Token> tokens = {};  // not empty: logits are of these alone, rising ids; no other
                                       // token can come, and no work is done for them
  std::int32_t of = 0;                 // then: of so many tokens
  std::size_t vocab() const { return tokens.empty() ? logits.size() : of; }
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
  redline::Row apply(const Path& path, const RawRow& raw, std::span<float> work) const;
  // The same in its parts. Links edit in work [V]; all but edit() may run on any thread.
  static Logits open(const RawRow& raw, std::span<float> work);
  void edit(const Path& path, Logits& row) const;
  redline::Row close(const Logits& row) const;
  bool runs_on_any_thread() const { return runs_on_any_thread_; }  // edit() too

 private:
  std::vector<std::unique_ptr<Sampler>> links_;
  const kernels::Ops& ops_;
  Watch* watch_;
  bool runs_on_any_thread_;
};

}  // namespace redline::step
