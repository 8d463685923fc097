// SPDX-License-Identifier: Apache-2.0
// From raw logits to distributions, many rows at once: shared out among the workers, but for links
// that the engine's thread alone may call.
#pragma once
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "device/worker_pool.hpp"
#include "step/chain.hpp"

namespace redline::step {

struct RowWish {
  const Chain& chain;
  const Chain::Path& path;  // the text the row follows
  RawRow raw;
  std::optional<redline::Row> row = {};  // what came of it, or why nothing did
  std::exception_ptr failure = {};
};

class RowMaker {
 public:
  explicit RowMaker(device::WorkerPool* pool);  // null: the caller's thread does all
  void make(std::span<RowWish> wishes);

 private:
  std::span<float> work(int worker, const RawRow& raw);
  template <class F>  // F(std::size_t index, int worker), in any order
  void each(std::size_t count, F&& f);
  void make_group(std::span<RowWish> wishes);

  device::WorkerPool* pool_;
  std::vector<std::vector<float>> work_;  // [workers][V] where links edit
};

}  // namespace redline::step
