// SPDX-License-Identifier: Apache-2.0
#include "redline/loaded_model.hpp"

#include <chrono>
#include <cstdio>

#include "engine/load_report.hpp"
#include "files/model_store.hpp"

namespace redline::tool {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What was asked for, as a drafter may ask.
engine::Savings savings_of(const ModelOptions& model, const files::Gguf& file) {
  ModelChoice choice;
  choice.model = model.model;
  choice.requantize = model.requantize;
  choice.head_tokens = model.head_tokens;
  choice.frequencies = model.frequencies;
  return engine::savings_of(choice, file);
}

model::LoadOptions completed(model::LoadOptions load, const ModelOptions& model,
                             const engine::Savings& savings) {
  if (load.cache_folder.empty()) load.cache_folder = files::cache_folder();
  load.progress = engine::load_report(
      [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }, model.model);
  load.kv_type = *kernels::kv_type_from(model.kv_dtype);
  savings.apply_to(load);
  return load;
}

}  // namespace

LoadedModel::LoadedModel(const ModelOptions& options, const model::LoadOptions& load)
    : begin_(seconds()),
      file_(files::Gguf::open(files::locate_model(options.model))),
      savings_(savings_of(options, file_)),
      load_(completed(load, options, savings_)),
      device_(device::Device::open(options.device, options.threads, options.isa)),
      decoder_(file_, *device_, ranks_, load_),
      load_seconds_(seconds() - begin_) {}

}  // namespace redline::tool
