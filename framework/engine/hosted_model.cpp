// SPDX-License-Identifier: Apache-2.0
#include "engine/hosted_model.hpp"

namespace redline::engine {

HostedModel::HostedModel(std::string name, files::Gguf file)
    : name_(std::move(name)), file_(std::move(file)), shape_(model::shape_of(file_)) {}

void HostedModel::load(const ModelContext& context, std::int32_t pages, std::int32_t vocab,
                       bool keep_raw, bool keep_prefixes) {
  decoder_ = std::make_unique<model::Decoder>(file_, context.device, context.ranks, context.load);
  pool_ = std::make_unique<kv::PagePool>(decoder_->kv_shape(), pages);
  model::Forward* forward = decoder_.get();
  if (decoder_->vocab() != vocab) forward = &padded_.emplace(*decoder_, vocab);
  draft_.emplace(*forward, *pool_, keep_raw);
  if (keep_prefixes) draft_->keep_prefixes();
}

std::vector<Row> HostedModel::do_forward(std::span<const Ask> asks) {
  if (!draft_) throw Error(name_ + ": asked for rows before the run has started");
  return draft_->forward(asks);
}

}  // namespace redline::engine
