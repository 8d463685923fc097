// SPDX-License-Identifier: Apache-2.0
#include "step/row_maker.hpp"

#include <algorithm>

namespace redline::step {
namespace {

template <class F>
void attempt(RowWish& wish, F&& part) {
  if (wish.failure) return;
  try {
    part();
  } catch (...) {
    wish.failure = std::current_exception();
  }
}

}  // namespace

RowMaker::RowMaker(device::WorkerPool* pool) : pool_(pool), work_(pool ? pool->threads() : 1) {}

std::span<float> RowMaker::work(int worker, const RawRow& raw) {
  return std::span(work_[worker]).first(raw.vocab());
}

template <class F>
void RowMaker::each(std::size_t count, F&& f) {
  auto task = [&](std::int64_t index, int worker) { f(static_cast<std::size_t>(index), worker); };
  if (pool_) return pool_->run(static_cast<std::int64_t>(count), task);
  for (std::size_t k = 0; k < count; ++k) f(k, 0);
}

void RowMaker::make(std::span<RowWish> wishes) {
  std::size_t widest = 0;
  for (const RowWish& wish : wishes) widest = std::max(widest, wish.raw.vocab());
  for (auto& work : work_)  // all at once: which worker comes by first is chance
    if (work.size() < widest) work.resize(widest);
  const auto is_free = [](const RowWish& wish) { return wish.chain.runs_on_any_thread(); };
  if (std::ranges::all_of(wishes, is_free))
    return each(wishes.size(), [&](std::size_t k, int worker) {
      RowWish& wish = wishes[k];
      attempt(wish,
              [&] { wish.row = wish.chain.apply(wish.path, wish.raw, work(worker, wish.raw)); });
    });
  for (; !wishes.empty(); wishes = wishes.subspan(std::min(work_.size(), wishes.size())))
    make_group(wishes.first(std::min(work_.size(), wishes.size())));
}

// As many rows as there are workers: links on this thread, what is the host's own on all.
void RowMaker::make_group(std::span<RowWish> wishes) {
  List<std::optional<Logits>> open(wishes.size());
  each(wishes.size(), [&](std::size_t k, int) {
    attempt(wishes[k], [&] {
      open[k].emplace(Chain::open(wishes[k].raw, work(static_cast<int>(k), wishes[k].raw)));
    });
  });
  for (std::size_t k = 0; k < wishes.size(); ++k)
    attempt(wishes[k], [&] { wishes[k].chain.edit(wishes[k].path, *open[k]); });
  each(wishes.size(), [&](std::size_t k, int) {
    attempt(wishes[k], [&] { wishes[k].row = wishes[k].chain.close(*open[k]); });
  });
}

}  // namespace redline::step
