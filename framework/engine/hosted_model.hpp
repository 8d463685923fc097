// SPDX-License-Identifier: Apache-2.0
// A model that a drafter opened: known from its header first, so that memory can be planned, loaded
// after. Its vocabulary has been held against the target's.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "engine/padded_forward.hpp"
#include "model/decoder.hpp"
#include "step/draft_model.hpp"

namespace redline::engine {

struct ModelContext {  // what every model of an engine is loaded with
  device::Device& device;
  parallel::Communicator& ranks;
  model::LoadOptions load;
};

class HostedModel final : public redline::Model {
 public:
  HostedModel(std::string name, files::Gguf file);

  const std::string& name() const { return name_; }
  const files::Gguf& file() const { return file_; }
  const model::Shape& shape() const { return shape_; }
  // pages: of its KV pool; vocab: the target's.
  void load(const ModelContext& context, std::int32_t pages, std::int32_t vocab, bool keep_raw,
            bool keep_prefixes);
  step::DraftModel& draft() { return *draft_; }  // after load()

 private:
  std::vector<Row> do_forward(std::span<const Ask> asks) override;
  std::string name_;
  files::Gguf file_;
  model::Shape shape_;
  std::unique_ptr<model::Decoder> decoder_;
  std::optional<PaddedForward> padded_;
  std::unique_ptr<kv::PagePool> pool_;
  std::optional<step::DraftModel> draft_;
};

}  // namespace redline::engine
