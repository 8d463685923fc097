// SPDX-License-Identifier: Apache-2.0
// A depth for each range of batch sizes: deep drafts while the batch leaves room, none when it is
// full.
#include <charconv>
#include <map>

#include "redline/plugin.hpp"

namespace {

// "1:8, 5:3, 17:0": from a batch of 1, of 5 and of 17 on.
std::map<int, int> parse(const std::string& text) {
  std::map<int, int> depth_from;
  const char *at = text.data(), *const end = at + text.size();
  const auto fail = [&](const char* what) {
    throw redline::InputError("length_ranges: ranges '" + text + "': " + what + " at character " +
                              std::to_string(at - text.data()) + "; write e.g. 1:8, 5:3, 17:0");
  };
  const auto number = [&](int low, int high) {
    while (at != end && *at == ' ') ++at;
    int value = 0;
    const auto [after, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || value < low || value > high) fail("no number in range");
    at = after;
    return value;
  };
  for (;; ++at) {
    const int from = number(1, 1 << 20);
    if (at == end || *at != ':') fail("no colon");
    if (!depth_from.empty() && from <= depth_from.rbegin()->first) fail("sizes must rise");
    ++at;
    depth_from[from] = number(0, 64);
    if (at == end) break;
    if (*at != ',') fail("no comma");
  }
  if (depth_from.begin()->first != 1) at = text.data(), fail("no depth for a batch of 1");
  return depth_from;
}

class Ranges final : public redline::DraftLength {
 public:
  struct Params {
    std::string ranges = "1:8, 5:4, 17:2, 33:0";
    int nodes_per_depth = 1;
    void visit(redline::ParameterVisitor& v) {
      v("ranges", ranges, "batch size:depth, each from that size on");
      v("nodes_per_depth", nodes_per_depth, {1, 64}, "tokens of a draft in all, over its depth");
    }
  };
  explicit Ranges(const Params& p)
      : depth_from_(parse(p.ranges)), nodes_per_depth_(p.nodes_per_depth) {}

 private:
  redline::Reads do_reads() const override { return redline::Reads::BATCH; }
  void do_choose(std::span<const redline::Turn> batch,
                 std::span<redline::Budget> budgets) override {
    if (batch.empty()) return;
    const int depth = std::prev(depth_from_.upper_bound(static_cast<int>(batch.size())))->second;
    std::fill(budgets.begin(), budgets.end(), redline::Budget{depth * nodes_per_depth_, depth});
  }
  std::map<int, int> depth_from_;
  int nodes_per_depth_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Ranges>("length_ranges", "a depth for each range of batch sizes"));
