// SPDX-License-Identifier: Apache-2.0
#include "model/forward_clock.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <utility>

#include "kv/lease.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

Token some_token(std::int32_t slot, std::int32_t vocab) {
  return static_cast<Token>(std::int64_t{slot} * 7919 % vocab);
}

Batch chain_of(const kv::Cache& cache, std::int32_t rows, std::int32_t vocab, Want want) {
  Batch batch;
  for (std::int32_t slot = cache.tokens(); slot < cache.tokens() + rows; ++slot)
    batch.rows.push_back({.token = some_token(slot, vocab),
                          .position = slot,
                          .slot = slot,
                          .prefix = slot + 1,
                          .want = want});
  batch.segments.push_back({&cache, 0, rows});
  return batch;
}

// Node i hangs below node (i - 1) / 2 and sees the context, the root, and its own line.
Batch tree_of(const kv::Cache& cache, std::int32_t rows, std::int32_t vocab) {
  const std::int32_t root = cache.tokens();
  Batch batch = chain_of(cache, rows, vocab, Want::ARGMAX);
  for (std::int32_t node = 0; node < rows; ++node) {
    Row& row = batch.rows[node];
    row.tail_begin = static_cast<std::int32_t>(batch.tail.size());
    for (std::int32_t at = node; at > 0; at = (at - 1) / 2) batch.tail.push_back(root + at);
    std::reverse(batch.tail.begin() + row.tail_begin, batch.tail.end());
    row.tail_end = static_cast<std::int32_t>(batch.tail.size());
    row.prefix = root + 1;
    row.position = root + row.tail_end - row.tail_begin;
  }
  return batch;
}

kv::Lease pages_for(kv::Cache& cache, std::int32_t rows) {
  auto lease = kv::Lease::reserve(cache, rows);
  if (!lease)
    throw DeviceError("timing forwards: no pages for " + std::to_string(cache.tokens() + rows) +
                      " tokens; measure less context or raise engine.max_model_len");
  return std::move(*lease);
}

}  // namespace

ForwardClock::ForwardClock(Forward& forward, kv::PagePool& pool)
    : forward_(forward), cache_(pool), empty_(pool) {}

void ForwardClock::fill(std::int32_t tokens) {
  while (cache_.tokens() < tokens) {
    const std::int32_t first = cache_.tokens();
    const std::int32_t count = std::min(forward_.max_rows(), tokens - first);
    kv::Lease lease = pages_for(cache_, count);
    forward_.forward(chain_of(cache_, count, forward_.vocab(), Want::NOTHING));
    std::vector<std::int32_t> kept(count);
    std::iota(kept.begin(), kept.end(), first);
    lease.commit(kept);
  }
}

double ForwardClock::chain(std::int32_t rows) {
  return time(cache_, chain_of(cache_, rows, forward_.vocab(), Want::ARGMAX));
}

double ForwardClock::tree(std::int32_t rows) {
  return time(cache_, tree_of(cache_, rows, forward_.vocab()));
}

double ForwardClock::prompt(std::int32_t rows) {
  Batch batch = chain_of(empty_, rows, forward_.vocab(), Want::NOTHING);
  batch.rows.back().want = Want::ARGMAX;
  return time(empty_, batch);
}

double ForwardClock::time(kv::Cache& cache, const Batch& batch) {
  const kv::Lease lease = pages_for(cache, static_cast<std::int32_t>(batch.rows.size()));
  const auto begin = std::chrono::steady_clock::now();
  forward_.forward(batch);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

}  // namespace redline::model
