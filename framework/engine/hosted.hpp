// SPDX-License-Identifier: Apache-2.0
// What a plugin opened: a model, or a learned head of the target. Known from its file first, so
// that memory can be planned, loaded after.
#pragma once
#include <optional>
#include <string>

#include "files/gguf.hpp"
#include "model/lead.hpp"
#include "step/draft_model.hpp"

namespace redline::engine {

struct ModelContext {  // what every model of an engine is loaded with
  device::Device& device;
  model::Lead& lead;
  model::LoadOptions load;
};

class Hosted : public redline::Model {
 public:
  const std::string& name() const { return name_; }
  const files::Gguf& file() const { return file_; }
  step::DraftModel& draft() { return *draft_; }  // after it was loaded

 protected:
  Hosted(std::string name, files::Gguf file) : name_(std::move(name)), file_(std::move(file)) {}
  void serve(model::Forward& forward, kv::PagePool& pool, device::WorkerPool& workers,
             bool keep_raw, bool keep_prefixes);
  void stop_serving() { draft_.reset(); }  // by those who own forward and pool, before these go

 private:
  List<Row> do_forward(std::span<const Ask> asks) override;
  std::string name_;
  files::Gguf file_;
  std::optional<step::DraftModel> draft_;
};

}  // namespace redline::engine
