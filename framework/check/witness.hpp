// SPDX-License-Identifier: Apache-2.0
// Stands before a drafter and sees each proposal as the drafter leaves it.
#pragma once
#include <functional>
#include <memory>

#include "redline/drafter.hpp"

namespace redline::check {

class Witness final : public Drafter {
 public:
  using See = std::function<void(const Proposal&)>;
  Witness(std::unique_ptr<Drafter> inner, See see)
      : inner_(std::move(inner)), see_(std::move(see)) {
    name_as(inner_->name());
  }

 private:
  DrafterContract do_contract() const override { return inner_->contract(); }
  std::unique_ptr<State> do_begin(const Sequence& s) override { return inner_->begin(s); }
  void do_propose(std::span<Proposal> batch) override {
    inner_->propose(batch);
    for (const Proposal& proposal : batch) see_(proposal);
  }
  void do_observe(std::span<const Outcome> batch) override { inner_->observe(batch); }

  std::unique_ptr<Drafter> inner_;
  See see_;
};

}  // namespace redline::check
