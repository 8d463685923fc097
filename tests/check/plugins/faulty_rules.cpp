// SPDX-License-Identifier: Apache-2.0
// Rules that go wrong in ways that are no bias: a crash, a hang, a memory, a wrong forecast, a
// chance above 1, and a refusal of everything.
#include <csignal>

#include "redline/plugin.hpp"

namespace {
using redline::Draft, redline::Draws, redline::Row, redline::Verdict, redline::kRoot;

enum class Fault { CRASH, HANG, MEMORY, FORECAST, CHANCE, REFUSE };

template <Fault kFault>
class Faulty final : public redline::AcceptanceRule {  // else the token ratio rule on the root
  redline::RuleContract do_contract() const override {
    return {redline::Claim::MARGINALLY_LOSSLESS, {true}, redline::Shape::CHAIN};
  }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    if (draft.size() == 0) return {kRoot, draws.categorical(kRoot, p[kRoot])};
    if (kFault == Fault::CRASH) std::raise(SIGKILL);  // a fault that no sanitizer reports first
    if (kFault == Fault::REFUSE) throw redline::Error("refuses: no draft pleases it");
    while (kFault == Fault::HANG) std::raise(SIGCONT);
    // Judges every other draft by plain decoding, which is exact too.
    if (kFault == Fault::MEMORY && ++judged_ % 2 == 0)
      return {kRoot, draws.categorical(kRoot, p[kRoot])};
    const redline::Token x = draft.token(1);
    const double odds = p[kRoot].at(x) / draft.q(1).at(x);
    if (!draws.bernoulli(1, kFault == Fault::CHANCE ? odds : std::min(1.0, odds)))
      return {kRoot, draws.categorical(kRoot, p[kRoot].residual(draft.q(1)))};
    return {1, draws.categorical(1, p[1])};
  }
  double do_expected_accepted(const Draft& draft, std::span<const Row>) const override {
    return kFault == Fault::FORECAST ? draft.size() : std::numeric_limits<double>::quiet_NaN();
  }
  mutable int judged_ = 0;
};
// Keeps every token, and says that it is half as far off as it is.
class Understates final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {redline::Claim::APPROXIMATE, {true}, redline::Shape::CHAIN};
  }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    return {draft.size(), draws.sample(draft.size(), p[draft.size()])};
  }
  double do_tv(const Draft& draft, redline::Node u, std::span<const Row> p) const override {
    return p[u].mass(draft.q(draft.first_child(u))) / 2;
  }
};
}  // namespace

REDLINE_PLUGIN(redline::entry<Understates>("understates", "how lossy it is"),
               redline::entry<Faulty<Fault::CRASH>>("crashes", "dies while judging"),
               redline::entry<Faulty<Fault::HANG>>("hangs", "never ends judging"),
               redline::entry<Faulty<Fault::MEMORY>>("remembers", "counts over requests"),
               redline::entry<Faulty<Fault::FORECAST>>("foretells", "more than it keeps"),
               redline::entry<Faulty<Fault::CHANCE>>("overconfident", "chances above 1"),
               redline::entry<Faulty<Fault::REFUSE>>("refuses", "every draft"));
