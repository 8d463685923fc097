// SPDX-License-Identifier: Apache-2.0
// What the steps of a request add up to that its result does not say: how many tokens the rule
// foretold that it would keep, and what its forwards cost by the stored table. Stands before the
// trace, which gets every record untouched.
#pragma once
#include <cstdint>
#include <map>

#include "redline/cost.hpp"
#include "trace/sink.hpp"

namespace redline::experiment {

struct Tally {
  // Over the drafting steps whose rule could say how many tokens it keeps in expectation.
  std::uint64_t foretold_steps = 0, kept = 0;
  double foretold = 0;
  double cost_ns = 0;  // of its verify steps; 0: nothing was measured
  bool operator==(const Tally&) const = default;
};

class StepTally final : public trace::Sink {
 public:
  StepTally(trace::Sink& to, const Costs& costs) : to_(to), costs_(costs) {}
  Tally take(std::uint64_t request_key);  // what was counted of it, which is then forgotten

  trace::Level level() const override { return to_.level(); }
  std::int32_t topk() const override { return to_.topk(); }
  void step(trace::StepRecord record) override;
  void batch(trace::BatchRecord record) override { to_.batch(record); }
  void request(trace::RequestRecord record) override { to_.request(std::move(record)); }
  void event(trace::EventRecord record) override { to_.event(record); }
  void kv(trace::KvRecord record) override { to_.kv(record); }

 private:
  trace::Sink& to_;
  const Costs& costs_;
  std::map<std::uint64_t, Tally> open_;
};

}  // namespace redline::experiment
