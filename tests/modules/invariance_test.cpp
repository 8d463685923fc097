// SPDX-License-Identifier: Apache-2.0
// A head's rows, K, V and features are the same bits however they are run (contract RI).
#include <catch2/catch.hpp>

#include "modules/rig.hpp"

using namespace redline;
using namespace redline::tests;
using files::TensorType;

namespace {

void keep_rows(const model::Output& output, std::vector<std::vector<float>>& rows) {
  for (const auto& row : output.logits)
    if (!row.empty()) rows.emplace_back(row.begin(), row.end());
}

struct Trail {
  std::vector<std::vector<float>> rows;
  Bytes kept;
  bool operator==(const Trail&) const = default;
};

// Some drafted rows of the head, then its committed ones.
Trail run(const Head& head, Rig& rig, Text& text, std::int32_t chunk) {
  Trail trail;
  const std::int32_t committed = rig.plan.feeding.is_block ? text.root() : text.root() + 1;
  text.fill(committed - 5, chunk);
  auto lease = kv::Lease::reserve(text.of_head, 12);
  if (rig.plan.feeding.is_block) {
    keep_rows(rig.module.forward(text.block_rows(258, 6)), trail.rows);
  } else {
    keep_rows(rig.module.forward(text.root_rows()), trail.rows);
    if (head.build == build_eagle) {
      model::Batch batch;
      for (const std::int32_t k : {1, 2, 3}) text.add_node(batch, 40 + k, {text.root() + k});
      keep_rows(rig.module.forward(batch), trail.rows);
    }
  }
  std::vector<std::int32_t> kept(5);
  std::iota(kept.begin(), kept.end(), lease->first_slot());
  lease->commit(kept);
  trail.kept = kept_of(text.of_head);
  return trail;
}

}  // namespace

TEST_CASE("A head's bits do not depend on rows a forward, instruction set or threads") {
  const auto type = TensorType::Q4_0;
  const Head head = GENERATE(medusa(), eagle(), flash());
  Rig plain(head, type, kernels::Isa::PORTABLE);
  const auto ids = model::some_ids(40, plain.shape.vocab);
  Text text(plain, ids);
  const Trail expected = run(head, plain, text, 1);
  for (const kernels::Isa isa : kernels::supported())
    for (const int threads : {1, 3}) {
      Rig rig(head, type, isa, threads);
      for (const std::int32_t chunk : {2, 7, 64}) {
        CAPTURE(kernels::name(isa), threads, chunk);
        Text again(rig, ids);
        CHECK((run(head, rig, again, chunk) == expected));
      }
    }
}

TEST_CASE("A head's bits do not depend on the sequences it shares a forward with") {
  const Head head = GENERATE(medusa(), eagle(), flash());
  Rig rig(head, TensorType::Q8_0);
  const bool is_block = rig.plan.feeding.is_block;
  Text alone(rig, model::some_ids(30, rig.shape.vocab)),
      a(rig, model::some_ids(9, rig.shape.vocab)), b(rig, model::some_ids(30, rig.shape.vocab)),
      c(rig, model::some_ids(17, rig.shape.vocab, 5));
  const auto rows_of = [&](Text& text) {
    return is_block ? text.block_rows(258, 3) : text.root_rows();
  };
  std::vector<kv::Lease> leases;
  for (Text* text : {&alone, &a, &b, &c})
    leases.push_back(*kv::Lease::reserve(text->of_head, text->root() + 4));
  std::vector<std::vector<float>> expected, found;
  keep_rows(rig.module.forward(rows_of(alone)), expected);
  model::Batch all;
  std::size_t before = 0;
  for (Text* text : {&a, &b, &c}) {
    const model::Batch part = rows_of(*text);
    const auto begin = static_cast<std::int32_t>(all.rows.size());
    all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
    model::Segment segment = part.segments[0];
    segment.row_begin = begin, segment.row_end = static_cast<std::int32_t>(all.rows.size());
    all.segments.push_back(segment);
    if (text == &a) before = expected.size();
  }
  keep_rows(rig.module.forward(all), found);
  for (std::size_t k = 0; k < expected.size(); ++k) CHECK(found[before + k] == expected[k]);
  commit_all(leases[0]);
  commit_all(leases[2]);
  const std::size_t compared = is_block ? 29 : 30;
  const auto head_of = [&](const kv::Cache& cache) {
    Bytes bytes = kept_of(cache);
    bytes.resize(bytes.size() / cache.tokens() * compared);
    return bytes;
  };
  CHECK((head_of(alone.of_head) == head_of(b.of_head)));
}
