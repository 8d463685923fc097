// SPDX-License-Identifier: Apache-2.0
// What a step needs of a model: one forward over a batch of rows. The decoder is one; the scripted
// model of the tests is another.
#pragma once
#include "kv/page_pool.hpp"
#include "model/batch.hpp"

namespace redline::model {

class Forward {
 public:
  virtual ~Forward() = default;
  virtual std::int32_t vocab() const = 0;
  virtual std::int32_t context() const = 0;   // positions it can take
  virtual std::int32_t max_rows() const = 0;  // of one forward
  virtual kv::KvShape kv_shape() const = 0;
  // rows <= max_rows; every slot must lie in its cache's pages. The result lives until the next
  // call.
  virtual const Output& forward(const Batch& batch) = 0;
};

}  // namespace redline::model
