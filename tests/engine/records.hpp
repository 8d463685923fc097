// SPDX-License-Identifier: Apache-2.0
// Keeps what an engine records, for tests to count.
#pragma once
#include <algorithm>
#include <vector>

#include "trace/events.hpp"
#include "trace/sink.hpp"

namespace tests {

struct Records final : redline::trace::Sink {
  redline::trace::Level level() const override { return redline::trace::Level::COUNTS; }
  std::int32_t topk() const override { return 0; }
  void step(redline::trace::StepRecord r) override {
    if (keeps_steps) steps.push_back(std::move(r));
  }
  void batch(redline::trace::BatchRecord r) override { batches.push_back(r); }
  void request(redline::trace::RequestRecord r) override { requests.push_back(std::move(r)); }
  void event(redline::trace::EventRecord r) override { events.push_back(r); }
  void kv(redline::trace::KvRecord r) override { samples.push_back(r); }
  std::int64_t count(redline::trace::Event code) const {
    return std::ranges::count(events, static_cast<std::uint16_t>(code),
                              &redline::trace::EventRecord::code);
  }

  bool keeps_steps = true;
  std::vector<redline::trace::StepRecord> steps;
  std::vector<redline::trace::BatchRecord> batches;
  std::vector<redline::trace::RequestRecord> requests;
  std::vector<redline::trace::EventRecord> events;
  std::vector<redline::trace::KvRecord> samples;
};

}  // namespace tests
