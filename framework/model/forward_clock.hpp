// SPDX-License-Identifier: Apache-2.0
// What forwards take: the time of one over rows behind a context, be they a chain, a tree or a
// prompt. Any token costs the same, so the text is made up.
#pragma once
#include <vector>

#include "kv/cache.hpp"
#include "kv/page_pool.hpp"
#include "model/forward.hpp"

namespace redline::model {

class ForwardClock {
 public:
  // DeviceError here and below: the pool has no pages for it.
  ForwardClock(Forward& forward, kv::PagePool& pool);

  void fill(std::int32_t tokens);  // the context grows to this
  std::int32_t context() const { return cache_.tokens(); }

  // Each in ns. Verified rows want their argmax each, a prompt the last one's.
  double chain(std::int32_t rows);
  double tree(std::int32_t rows);    // a binary one, level by level
  double prompt(std::int32_t rows);  // behind nothing, in one forward

 private:
  double time(kv::Cache& cache, const Batch& batch);
  Forward& forward_;
  kv::Cache cache_, empty_;
};

double median(std::vector<double> values);  // one or more, the upper one of an even number

}  // namespace redline::model
