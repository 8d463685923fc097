// SPDX-License-Identifier: Apache-2.0
#include "engine/hosted_model.hpp"

namespace redline::engine {

model::CostKey cost_key(const files::Gguf& file, int degree, const ModelContext& context,
                        std::string variant) {
  if (context.load.kv_type != kernels::KvType::F16)
    variant +=
        (variant.empty() ? "kv_" : "-kv_") + std::string(kernels::name(context.load.kv_type));
  return {file, std::string(kernels::name(context.device.ops().isa)),
          context.device.pool().threads(), degree, std::move(variant)};
}

HostedModel::HostedModel(ModelChoice choice, files::Gguf file, int degree, Savings savings)
    : Hosted(choice.model, std::move(file)),
      choice_(std::move(choice)),
      shape_(model::shape_of(this->file())),
      degree_(degree),
      savings_(std::move(savings)) {}

model::LoadOptions HostedModel::cheaper(model::LoadOptions options) const {
  savings_.apply_to(options);
  return options;
}

void HostedModel::load(const ModelContext& context, std::int32_t pages, std::int32_t vocab,
                       bool keep_raw, bool keep_prefixes) {
  model_ = context.lead.open(file(), degree_, context.device, cheaper(context.load), pages);
  model::Forward* forward = &model_->forward();
  if (forward->vocab() != vocab) forward = &padded_.emplace(*forward, vocab);
  serve(*forward, model_->pool(), context.device.pool(), keep_raw, keep_prefixes);
}

CostCurve HostedModel::cost(const std::filesystem::path& cache_folder, const ModelContext& context,
                            const std::function<void(const std::string&)>& progress) {
  return model::cost_of(cache_folder, cost_key(file(), degree_, context, savings_.text()),
                        model_->forward(), model_->pool(), progress);
}

}  // namespace redline::engine
