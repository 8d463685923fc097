// SPDX-License-Identifier: Apache-2.0
// The HDF5 trace of one cell and attempt (docs/traces.md). Records go through a bounded queue to
// one thread, the only one that touches the file while it runs. What is flushed survives a kill of
// this process and a full disk; it makes no promise about a power cut.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "trace/sink.hpp"

namespace redline::trace {

enum class FileFormat : std::uint8_t { AUTO, SWMR, OLD };  // AUTO: OLD on network file systems only

struct WriterOptions {
  std::int64_t queue_bytes = 64 << 20;  // records waiting; the engine blocks when they are more
  std::chrono::milliseconds flush_every{1000};
  FileFormat format = FileFormat::AUTO;
  std::function<void(const std::string& line)> warn = {};  // said by the constructor and by close()
};

std::string trace_file_name(std::int32_t attempt);  // "trace-000.h5"

class Writer final : public Sink {
 public:
  // Creates the file; one that exists is never opened for writing again (InputError).
  Writer(const std::filesystem::path& path, const Header& header, WriterOptions options = {});
  ~Writer() override;              // closes; call close() to learn what went wrong
  Writer(const Writer&) = delete;  // the thread holds its address

  Level level() const override;
  std::int32_t topk() const override;
  // Error: the record breaks a rule of the trace (request and numbers named), or the writer thread
  // failed earlier (file and cause named).
  void step(StepRecord record) override;
  void batch(BatchRecord record) override;
  void request(RequestRecord record) override;
  void event(EventRecord record) override;
  void kv(KvRecord record) override;
  void close();  // flushes all and marks the file complete

  std::uint64_t times_blocked() const;  // how often a record waited for room in the queue

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::trace
