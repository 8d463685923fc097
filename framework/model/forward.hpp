// SPDX-License-Identifier: Apache-2.0
// What a step needs of a model: one forward over a batch of rows. The decoder is one; the scripted
// model of the tests is another.
#pragma once
#include "kv/page_pool.hpp"
#include "model/batch.hpp"

namespace redline::model {

// How a model's rows are to be fed. A decoder's way is the default; learned heads have others.
struct Feeding {
  std::int32_t heads = 1;          // rows of logits that a wanted row gets
  bool drops_drafts = false;       // a drafted row is computed anew when it is committed
  bool takes_features = false;     // a committed row reads the target's tapped states
  bool is_level_by_level = false;  // a drafted row reads what its parent's forward has left
  bool is_root_only = false;       // what is below the root cannot be computed
  bool is_block = false;           // the root counts as drafted; it and the nodes see each other
};

class Forward {
 public:
  virtual ~Forward() = default;
  virtual std::int32_t vocab() const = 0;
  virtual std::int32_t context() const = 0;   // positions it can take
  virtual std::int32_t max_rows() const = 0;  // of one forward
  virtual kv::KvShape kv_shape() const = 0;
  virtual Feeding feeding() const { return {}; }
  // rows <= max_rows; every slot must lie in its cache's pages. The result lives until the next
  // call.
  virtual const Output& forward(const Batch& batch) = 0;
};

}  // namespace redline::model
