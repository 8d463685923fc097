// SPDX-License-Identifier: Apache-2.0
#include "check/forced_rows.hpp"

#include <algorithm>
#include <numeric>

#include "files/model_store.hpp"
#include "kv/lease.hpp"

namespace redline::check {
namespace {

constexpr std::int32_t kRows = 64;  // of one forward

}  // namespace

ForcedRows::ForcedRows(const ForcedSpec& spec)
    : file_(files::Gguf::open(files::locate_model(spec.model))),
      device_(device::Device::open(spec.device, spec.threads, spec.isa)),
      decoder_(
          file_, *device_, ranks_,
          {.cache_folder = spec.cache_folder.empty() ? files::cache_folder() : spec.cache_folder,
           .max_rows = kRows,
           .max_positions = spec.max_tokens,
           .progress = {}}),
      forward_(&decoder_),
      pool_(decoder_.kv_shape(), spec.max_tokens / kv::kPageTokens + 1) {
  if (spec.vocab == 0 || spec.vocab == decoder_.vocab()) return;
  padded_.emplace(decoder_, spec.vocab);
  forward_ = &*padded_;
}

void ForcedRows::over(std::span<const Token> text, std::int32_t first, const OnRow& on_row) {
  kv::Cache cache(pool_);
  model::Batch batch;
  const auto end = static_cast<std::int32_t>(text.size());
  for (std::int32_t begin = 0; begin < end; begin += kRows) {
    const std::int32_t count = std::min(kRows, end - begin);
    auto lease = kv::Lease::reserve(cache, count);
    if (!lease) throw Error("forced rows: the pages planned for the longest text do not suffice");
    std::vector<std::int32_t> slots(count);
    std::iota(slots.begin(), slots.end(), begin);
    batch.clear();
    for (const std::int32_t at : slots)
      batch.rows.push_back({.token = text[at],
                            .position = at,
                            .slot = at,
                            .prefix = at + 1,
                            .want = at >= first ? model::Want::ROW : model::Want::NOTHING});
    batch.segments.push_back({&cache, 0, count});
    const model::Output& rows = forward_->forward(batch);
    for (const std::int32_t at : slots)
      if (at >= first) on_row(at, rows.logits[at - begin]);
    lease->commit(slots);
  }
}

}  // namespace redline::check
