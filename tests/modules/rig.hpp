// SPDX-License-Identifier: Apache-2.0
// A toy head on a tiny target, and a text that runs through both.
#pragma once
#include <cstring>
#include <numeric>

#include "kv/lease.hpp"
#include "kv/slot_bytes.hpp"
#include "model/module.hpp"
#include "model/tiny.hpp"
#include "modules/head_files.hpp"
#include "modules/naive_heads.hpp"

namespace redline::tests {

inline std::vector<std::int32_t> places(std::size_t taps) {
  std::vector<std::int32_t> all(taps);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct Head {
  void (*build)(ModuleBuilder&);
  std::vector<Tap> taps;
  files::GgufWriter (*file)(std::int32_t hidden, std::int32_t vocab, files::TensorType type);
};
inline Head medusa() { return {build_medusa, medusa_taps(), medusa_file}; }
inline Head eagle() { return {build_eagle, eagle_taps(), eagle_file}; }
inline Head flash() {
  return {build_flash, flash_taps(), [](std::int32_t hidden, std::int32_t, files::TensorType type) {
            return flash_file(hidden, type);
          }};
}

// A target and a head, wherever they run.
struct Pair {
  model::Forward &target, &module;
  kv::PagePool &target_pool, &module_pool;
};

struct Rig {
  explicit Rig(const Head& of, files::TensorType type = files::TensorType::F32,
               kernels::Isa isa = kernels::best(), int threads = 1)
      : target_file(model::TinySpec{.layers = 3, .type = type}),
        shape(model::shape_of(target_file.open())),
        head_file(of.file(shape.hidden, shape.vocab, type)),
        target(target_file, isa, threads, of.taps),
        plan(model::module_plan(head_file.open(), model::record_graph(of.build),
                                model::architecture_of(target_file.open()),
                                static_cast<std::int32_t>(of.taps.size()))),
        module(head_file.open(), plan, places(of.taps.size()), *target, target.device(),
               {.cache_folder = head_file.cache(),
                .max_rows = 96,
                .max_positions = 256,
                .progress = {}}),
        target_pool(target->kv_shape(), 40, true),
        module_pool(module.kv_shape(), 40, true) {}

  operator Pair() { return {*target, module, target_pool, module_pool}; }

  model::TinyFile target_file;
  model::Shape shape;
  model::TinyFile head_file;
  model::TinyDecoder target;
  model::ModulePlan plan;
  model::Module module;
  kv::PagePool target_pool, module_pool;
};

inline void commit_all(kv::Lease& lease) {
  std::vector<std::int32_t> slots(lease.rows());
  std::iota(slots.begin(), slots.end(), lease.first_slot());
  lease.commit(slots);
}

// A committed text: the target has computed all of it but the root, the head what fill() says.
class Text {
 public:
  Text(Pair pair, const std::vector<Token>& ids)
      : of_target(pair.target_pool), of_head(pair.module_pool), pair_(pair) {
    extend(ids);
  }
  // The target computes all but the last of the text.
  void extend(const std::vector<Token>& ids) {
    tokens.insert(tokens.end(), ids.begin(), ids.end());
    const std::int32_t from = of_target.tokens();
    if (root() == from) return;
    auto lease = kv::Lease::reserve(of_target, root() - from);
    pair_.target.forward(committed(of_target, from, root(), nullptr));
    commit_all(*lease);
    for (std::int32_t slot = from; slot < root(); ++slot) {
      const std::byte* const page = of_target.pages()[slot / kv::kPageTokens];
      const auto* const states =
          reinterpret_cast<const float*>(page + of_target.shape().feature_offset(slot));
      taps.emplace_back(states, states + of_target.shape().feature_floats);
    }
  }

  std::int32_t root() const { return static_cast<std::int32_t>(tokens.size()) - 1; }
  // Committed rows of the head, in forwards of so many.
  void fill(std::int32_t to, std::int32_t chunk) {
    while (of_head.tokens() < to) {
      const std::int32_t from = of_head.tokens(), end = std::min(to, from + chunk);
      auto lease = kv::Lease::reserve(of_head, end - from);
      model::Batch batch = committed(of_head, from, end, &of_target);
      pair_.module.forward(batch);
      commit_all(*lease);
    }
  }
  // The rows of the next forward of the head: all that it lacks of the committed tokens and the
  // root, which wants its rows.
  model::Batch root_rows() {
    model::Batch batch = committed(of_head, of_head.tokens(), root() + 1, &of_target);
    batch.rows.back().want = model::Want::ROW;
    return batch;
  }
  // A node whose path has these slots, its own last.
  void add_node(model::Batch& batch, Token token, const std::vector<std::int32_t>& line) {
    const auto begin = static_cast<std::int32_t>(batch.tail.size());
    batch.tail.insert(batch.tail.end(), line.begin(), line.end());
    batch.rows.push_back({.token = token,
                          .position = root() + static_cast<std::int32_t>(line.size()),
                          .slot = line.back(),
                          .prefix = root() + 1,
                          .tail_begin = begin,
                          .tail_end = static_cast<std::int32_t>(batch.tail.size()),
                          .want = model::Want::ROW,
                          .standing = model::Standing::DRAFTED});
    if (batch.segments.empty()) batch.segments.push_back({&of_head, 0, 0, &of_target});
    batch.segments.back().row_end = static_cast<std::int32_t>(batch.rows.size());
  }
  // The block of the root and so many mask tokens, behind what the head lacks.
  model::Batch block_rows(Token mask, std::int32_t masks) {
    model::Batch batch = committed(of_head, of_head.tokens(), root(), &of_target);
    for (std::int32_t k = 0; k <= masks; ++k)
      batch.rows.push_back({.token = k == 0 ? tokens.back() : mask,
                            .position = root() + k,
                            .slot = root() + k,
                            .prefix = root() + masks + 1,
                            .want = model::Want::ROW,
                            .standing = model::Standing::BLOCK});
    batch.segments.back().row_end = static_cast<std::int32_t>(batch.rows.size());
    return batch;
  }

  std::vector<Token> tokens;
  Taps taps;  // [root]
  kv::Cache of_target, of_head;

 private:
  model::Batch committed(const kv::Cache& cache, std::int32_t from, std::int32_t to,
                         const kv::PageTable* features) const {
    model::Batch batch;
    for (std::int32_t at = from; at < to; ++at)
      batch.rows.push_back({.token = tokens[at], .position = at, .slot = at, .prefix = at + 1});
    batch.segments.push_back({&cache, 0, to - from, features});
    return batch;
  }
  Pair pair_;
};

using Bytes = std::vector<std::byte>;

// All that a head keeps of its committed rows.
inline Bytes kept_of(const kv::Cache& cache) {
  Bytes kept;
  for (std::int32_t slot = 0; slot < cache.tokens(); ++slot) {
    const Bytes more = kv::slot_bytes(cache, slot);
    kept.insert(kept.end(), more.begin(), more.end());
  }
  return kept;
}

// Root mean square of the difference over that of the expected; the same entries must be -inf.
inline double error_of(std::span<const float> found, const Numbers& expected) {
  if (found.size() != expected.size()) return 1;
  double wrong = 0, size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isinf(expected[i]) != std::isinf(found[i])) return 1;
    if (std::isinf(expected[i])) continue;
    wrong += std::pow(found[i] - expected[i], 2);
    size += std::pow(expected[i], 2);
  }
  return std::sqrt(wrong / size);
}

}  // namespace redline::tests
