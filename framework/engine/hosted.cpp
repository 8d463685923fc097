// SPDX-License-Identifier: Apache-2.0
#include "engine/hosted.hpp"

namespace redline::engine {

void Hosted::serve(model::Forward& forward, kv::PagePool& pool, device::WorkerPool& workers,
                   bool keep_raw, bool keep_prefixes) {
  draft_.emplace(forward, pool, keep_raw, &workers);
  if (keep_prefixes) draft_->keep_prefixes();
}

List<Row> Hosted::do_forward(std::span<const Ask> asks) {
  if (!draft_) throw Error(name_ + ": asked for rows before the run has started");
  return draft_->forward(asks);
}

}  // namespace redline::engine
