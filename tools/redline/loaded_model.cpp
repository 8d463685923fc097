// SPDX-License-Identifier: Apache-2.0
#include "redline/loaded_model.hpp"

#include <chrono>

#include "files/model_store.hpp"

namespace redline::tool {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

model::LoadOptions in_a_folder(model::LoadOptions load) {
  if (load.cache_folder.empty()) load.cache_folder = files::cache_folder();
  return load;
}

}  // namespace

LoadedModel::LoadedModel(const ModelOptions& options, const model::LoadOptions& load)
    : begin_(seconds()),
      file_(files::Gguf::open(files::locate_model(options.model))),
      device_(device::Device::open(options.device, options.threads, options.isa)),
      decoder_(file_, *device_, ranks_, in_a_folder(load)),
      load_seconds_(seconds() - begin_) {}

}  // namespace redline::tool
