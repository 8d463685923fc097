// SPDX-License-Identifier: Apache-2.0
#include "step/work.hpp"

#include <algorithm>
#include <chrono>

namespace redline::step {
namespace {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

void Work::hold_to_laws(const Plugin& who) const {
  if (draws->broken()) throw PluginError(who.name() + ": " + draws->fault());
}

std::vector<Node> Work::line(Node n) const {
  std::vector<Node> nodes;
  for (; n != kRoot; n = draft.parent(n)) nodes.push_back(n);
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

Lap::Lap(std::int64_t& total_ns) : total_ns_(total_ns), start_ns_(now_ns()) {}
Lap::~Lap() { total_ns_ += now_ns() - start_ns_; }

}  // namespace redline::step
