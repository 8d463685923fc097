// SPDX-License-Identifier: Apache-2.0
// A model that a drafter opened: known from its header first, so that memory can be planned, loaded
// after. Its vocabulary has been held against the target's.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "engine/hosted.hpp"
#include "engine/padded_forward.hpp"
#include "engine/savings.hpp"
#include "model/cost_table.hpp"

namespace redline::engine {

model::CostKey cost_key(const files::Gguf& file, int degree, const ModelContext& context,
                        std::string variant = {});

class HostedModel final : public Hosted {
 public:
  HostedModel(ModelChoice choice, files::Gguf file, int degree, Savings savings);
  ~HostedModel() override { stop_serving(); }

  const model::Shape& shape() const { return shape_; }
  int degree() const { return degree_; }  // ranks that share it
  const ModelChoice& choice() const { return choice_; }
  const Savings& savings() const { return savings_; }
  // As the engine would load it, and cheaper where that was asked for.
  model::LoadOptions cheaper(model::LoadOptions options) const;
  // pages: of its KV pool; vocab: the target's.
  void load(const ModelContext& context, std::int32_t pages, std::int32_t vocab, bool keep_raw,
            bool keep_prefixes);
  CostCurve cost(const std::filesystem::path& cache_folder, const ModelContext& context,
                 const std::function<void(const std::string&)>& progress);  // after load()

 private:
  ModelChoice choice_;
  model::Shape shape_;
  int degree_;
  Savings savings_;
  std::unique_ptr<model::LedModel> model_;
  std::optional<PaddedForward> padded_;
};

}  // namespace redline::engine
