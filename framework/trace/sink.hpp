// SPDX-License-Identifier: Apache-2.0
// Where records go. The HDF5 writer is one; NoTrace is another; tests keep them in memory.
#pragma once
#include "trace/records.hpp"

namespace redline::trace {

class Sink {  // [engine thread]; records are moved in and never touched again
 public:
  virtual ~Sink() = default;
  virtual Level level() const = 0;
  virtual std::int32_t topk() const = 0;
  virtual void step(StepRecord record) = 0;
  virtual void batch(BatchRecord record) = 0;
  // Returns only when the request and all its steps are safe on disk: what is reported finished
  // survives a kill.
  virtual void request(RequestRecord record) = 0;
  virtual void event(EventRecord record) = 0;
  virtual void kv(KvRecord) {}  // samples of memory; a sink may do without
};

class NoTrace final : public Sink {
 public:
  Level level() const override { return Level::COUNTS; }
  std::int32_t topk() const override { return 0; }
  void step(StepRecord) override {}
  void batch(BatchRecord) override {}
  void request(RequestRecord) override {}
  void event(EventRecord) override {}
};

}  // namespace redline::trace
