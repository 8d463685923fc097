// SPDX-License-Identifier: Apache-2.0
#include "redline/loaded_model.hpp"

#include <chrono>

#include "files/model_store.hpp"

namespace redline::tool {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

LoadedModel::LoadedModel(const ModelOptions& options, std::int32_t max_rows,
                         std::int32_t max_positions)
    : begin_(seconds()),
      file_(files::Gguf::open(files::locate_model(options.model))),
      device_(device::Device::open(options.device, options.threads, options.isa)),
      decoder_(file_, *device_, ranks_,
               {.cache_folder = files::cache_folder(),
                .max_rows = max_rows,
                .max_positions = max_positions,
                .progress = {}}),
      load_seconds_(seconds() - begin_) {}

}  // namespace redline::tool
