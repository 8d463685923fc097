// SPDX-License-Identifier: Apache-2.0
// Proposes nothing. With accept_match this is plain decoding, the honest baseline.
#include "redline/plugin.hpp"

namespace {

class DraftNone final : public redline::Drafter {
  redline::DrafterContract do_contract() const override { return {.drafts = false}; }
  void do_propose(std::span<redline::Proposal>) override {}
};

}  // namespace

REDLINE_PLUGIN(redline::entry<DraftNone>("draft_none", "proposes nothing: plain decoding"));
