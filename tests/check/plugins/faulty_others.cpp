// SPDX-License-Identifier: Apache-2.0
// A drafter with dice of its own, policies that read more than they say, and links of the sampling
// chain that leak or change their mind.
#include <chrono>
#include <memory>

#include "redline/plugin.hpp"

namespace {
using redline::kRoot, redline::Row;

// Draws the best token three times in four, by no draw that the host sees.
class OwnDice final : public redline::Drafter {
 public:
  OwnDice(const redline::NoParams&, redline::Host& host) : model_(host.open_model("draft")) {}

 private:
  redline::DrafterContract do_contract() const override { return {{true}}; }
  void do_propose(std::span<redline::Proposal> batch) override {
    for (redline::Proposal& p : batch) {
      if (!p.has_room(kRoot)) continue;
      const Row q = model_.next(p, kRoot);
      const auto best = q.top(2);
      const bool is_second = best.size() > 1 && p.sequence().tokens.size() % 4 == 0;
      p.append({kRoot, best[is_second ? 1 : 0].token, redline::Law::ROW, q});
    }
  }
  redline::Model& model_;
};

template <bool kClock>
class Secretive final : public redline::DraftLength {
  void do_choose(std::span<const redline::Turn> batch,
                 std::span<redline::Budget> budgets) override {
    using std::chrono::steady_clock;
    const auto now = steady_clock::now();
    const bool is_slow = now - before_ > std::chrono::milliseconds(3);
    before_ = now;
    const int depth = kClock ? (is_slow ? 1 : 4) : (batch.size() > 1 ? 1 : 4);
    for (redline::Budget& b : budgets) b = {depth, depth};
  }
  std::chrono::steady_clock::time_point before_ = std::chrono::steady_clock::now();
};

struct Shared {  // copies that are not: they count together
  std::shared_ptr<int> seen = std::make_shared<int>(0);
};
class Leaks final : public redline::SamplerOf<Shared> {
  redline::Slot do_slot() const override { return redline::Slot::WARP; }
  void step(Shared& memory, redline::Token) const override { ++*memory.seen; }
  void edit(const Shared& memory, redline::Logits& row) const override {
    row.add(1, static_cast<float>(*memory.seen));
  }
};

struct Nothing {};
class Moody final : public redline::SamplerOf<Nothing> {
  redline::Slot do_slot() const override { return redline::Slot::WARP; }
  void edit(const Nothing&, redline::Logits& row) const override {
    row.add(1, static_cast<float>(++calls_ % 2));
  }
  mutable int calls_ = 0;
};
}  // namespace

REDLINE_PLUGIN(redline::entry<OwnDice>("own_dice", "draws by itself"),
               redline::entry<Secretive<false>>("reads_batch", "and does not say so"),
               redline::entry<Secretive<true>>("reads_clock", "and does not say so"),
               redline::entry<Leaks>("leaks", "a memory shared by its copies"),
               redline::entry<Moody>("moody", "every other row is another"));
