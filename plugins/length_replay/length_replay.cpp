// SPDX-License-Identifier: Apache-2.0
// The budgets and answers of an earlier run, from its trace: by request and its own count of steps.
#include <algorithm>

#include "redline/plugin.hpp"

namespace {

using Steps = std::map<std::uint32_t, redline::RecordedStep>;

struct Place final : redline::State {
  explicit Place(const Steps& of) : steps(of) {}
  const Steps& steps;
  std::uint32_t step = 0;
  std::map<int, int> asked;  // of this step's draft, by depth
  std::string refusal;       // why it cannot go on

  // Throws now, which costs the draft, and makes `observe` throw, which ends the request.
  [[noreturn]] void refuse(const std::string& what) {
    refusal = "its step " + std::to_string(step) + " " + what +
              "; replay with the models, plugins, data and seed that were traced";
    throw redline::InputError(refusal);
  }
};

class Replay final : public redline::DraftLength {
 public:
  struct Params {
    std::string trace;
    void visit(redline::ParameterVisitor& v) {
      v("trace", trace, "trace file, or folder of a cell, of the run to repeat");
    }
  };
  Replay(const Params& p, redline::Host& host)
      : trace_(p.trace), recorded_(host.recorded_budgets(p.trace)) {}

 private:
  std::unique_ptr<redline::State> do_begin(const redline::Sequence& s) override {
    const auto found = recorded_.find(s.id);
    if (found == recorded_.end())
      throw redline::InputError("trace " + trace_ + " holds no request " + std::to_string(s.id) +
                                "; replay with the data set that was traced");
    return std::make_unique<Place>(found->second);
  }

  void do_choose(std::span<const redline::Turn> batch,
                 std::span<redline::Budget> budgets) override {
    for (std::size_t k = 0; k < batch.size(); ++k) {
      Place& place = batch[k].as<Place>();
      place.asked.clear();
      const auto found = place.steps.find(place.step);
      if (found == place.steps.end()) place.refuse("is not in trace " + trace_);
      budgets[k] = found->second.budget;
    }
  }

  // The host may ask for a draft twice, from its root, when a neighbour's went wrong.
  bool do_proceed(redline::Turn turn, int depth, const redline::Row& /*q_next*/) const override {
    Place& place = turn.as<Place>();
    if (depth == 0) place.asked.clear();
    int earlier = place.asked[depth]++;
    for (const auto& answer : place.steps.at(place.step).answers)
      if (answer.depth == depth && earlier-- == 0) return answer.may_grow;
    place.refuse("asks at depth " + std::to_string(depth) + " of its draft, which trace " + trace_ +
                 " does not");
  }

  void do_observe(std::span<const redline::Outcome> batch) override {
    for (const redline::Outcome& o : batch) {
      Place& place = o.turn.as<Place>();
      if (!place.refusal.empty()) throw redline::InputError(place.refusal);
      ++place.step;
    }
  }

  std::string trace_;
  redline::RecordedBudgets recorded_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Replay>("length_replay",
                                      "the budgets of an earlier run, from its trace"));
