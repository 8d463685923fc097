// SPDX-License-Identifier: Apache-2.0
#include "step/work.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "step/draft_model.hpp"

namespace redline::step {
namespace {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

Work::Work(const Part& part, redline::Sequence seen)
    : sequence(*part.sequence),
      view(seen),
      kind(part.chunk > 0              ? WorkKind::CHUNK
           : part.feed > 0             ? WorkKind::FEED
           : part.sequence->is_first() ? WorkKind::FIRST
                                       : WorkKind::DECODE),
      chunk(part.chunk > 0  ? part.chunk
            : part.feed > 0 ? part.feed
                            : part.sequence->missing()),
      draft(seen.vocab) {
  progress.is_chunk = !is_whole();
  progress.is_feed = kind == WorkKind::FEED;
  if (!sequence.fault.empty()) fail(Fault::PLUGIN, sequence.fault);
  if (kind == WorkKind::DECODE) progress.bad_draft = sequence.refusal;
}

void Work::fail(Fault fault, const std::string& why) {
  progress.fault = fault;
  progress.error = why;
}

std::int32_t Work::rows() const {
  if (failed() || kind == WorkKind::FEED) return 0;
  return kind == WorkKind::CHUNK ? chunk : chunk + 1 + static_cast<std::int32_t>(draft.size());
}

std::span<const float> Work::target_row(Node n) const { return output->logits[root_row + n]; }

std::span<const float> Work::draft_row(Node n) const {
  for (const DraftModel* model : strategy().models)
    if (const auto raw = model->raw(sequence.request_key, draft.path(n)); !raw.empty()) return raw;
  return {};
}

List<Node> Work::line(Node n) const {
  List<Node> nodes;
  for (; n != kRoot; n = draft.parent(n)) nodes.push_back(n);
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

List<Node> Work::passed() const {
  List<Node> nodes = line(verdict.keep);
  nodes.insert(nodes.begin(), kRoot);
  return nodes;
}

List<std::int32_t> Work::kept() const {
  const std::int32_t committed = kind == WorkKind::CHUNK ? chunk : chunk + 1;
  List<std::int32_t> slots(committed);
  std::iota(slots.begin(), slots.end(), lease->first_slot());
  for (const Node u : line(verdict.keep)) slots.push_back(root() + u);
  return slots;
}

void Work::drop_draft(std::string why) {
  draft = Draft(view.vocab);
  draft_stop = trace::DraftStop::NONE;
  progress.bad_draft = std::move(why);
  for (DraftModel* model : strategy().models) model->roll_back(sequence.request_key);
}

void Work::roll_back() {
  lease.reset();
  for (DraftModel* model : strategy().models) model->roll_back(sequence.request_key);
}

Lap::Lap(std::int64_t& total_ns) : total_ns_(total_ns), start_ns_(now_ns()) {}
Lap::~Lap() { total_ns_ += now_ns() - start_ns_; }

}  // namespace redline::step
