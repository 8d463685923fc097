// SPDX-License-Identifier: Apache-2.0
// What a request's text may depend on: its own key and tokens, never the requests before it, those
// beside it, their order or how warm the plugin is.
#include <algorithm>
#include <numeric>

#include "check/subject.hpp"
#include "check/texts.hpp"

namespace redline::check {
namespace {

constexpr int kSteps = 40;

void require_same(const Written& a, const Written& b, const char* otherwise) {
  if (a.tokens != b.tokens) throw Error(otherwise);
}

std::string count(const Written& w) { return std::to_string(w.tokens.size()) + " tokens"; }

std::string hold_isolation(const Subject& s) {
  Cell cell(s.registry(), s.place_in_text());
  const Written first = write(cell, 1, kSteps);
  write(cell, 2, kSteps);
  require_same(write(cell, 1, kSteps), first,
               "isolation: a request's text depends on the request before it");
  return count(first) + ", twice the same";
}

std::string hold_warmth(const Subject& s) {
  Cell warm(s.registry(), s.place_in_text()), cold(s.registry(), s.place_in_text());
  for (const std::uint64_t key : {2, 3, 4}) write(warm, key, kSteps);
  const Written first = write(cold, 1, kSteps);
  require_same(write(warm, 1, kSteps), first,
               "cold and warm: a request's text depends on how long the plugin has run");
  return count(first) + ", cold and warm the same";
}

// A policy that reads the batch may draft otherwise beside others, but not in another order.
std::string hold_company(const Subject& s) {
  Cell cell(s.registry(), s.place_in_text());
  const std::vector<std::uint64_t> keys{1, 2, 3, 4, 5}, reversed{5, 4, 3, 2, 1};
  const std::vector<Written> together = write_together(cell, keys, kSteps);
  std::vector<Written> turned = write_together(cell, reversed, kSteps);
  std::ranges::reverse(turned);
  if (s.reads() == Reads::CLOCK) return "reads the clock: not compared";
  for (std::size_t k = 0; k < keys.size(); ++k)
    require_same(together[k], turned[k], "order: a request's text depends on the order of a batch");
  if (s.reads() == Reads::BATCH) return "5 requests in two orders the same";
  for (std::size_t k = 0; k < keys.size(); ++k)
    require_same(together[k], write(cell, keys[k], kSteps),
                 "batch: a request's text depends on those beside it");
  return "5 requests together, in two orders and alone the same";
}

std::string hold_keys(const Subject& s) {
  CellSpec spec = s.place_in_text();
  if (s.listing().kind == Kind::RULE && s.rule_contract().shape == Shape::TREE)
    spec.drafter = {"draft_tree", {{"model", "draft"}, {"shape", "2;1,1"}, {"method", "iid"}}};
  Cell cell(s.registry(), spec);
  long draws = 0;
  for (const std::uint64_t key : {1, 2, 3}) {
    KeyKeeper keys;
    try {
      write(cell, key, kSteps, keys);
    } catch (const PluginError& fault) {
      const std::string why = refusal(fault, s.listing().name);
      if (why.empty()) throw;
      throw Refusal(why);
    }
    draws += keys.draws();
  }
  return std::to_string(draws) + " draws, each of a key of its own";
}

// A rule that draws the noise of the position alone says what plain decoding says with that noise.
std::string hold_plain_text(const Subject& s, int texts) {
  if (!s.is_lossless()) return "approximate: not compared";
  CellSpec spec = s.place_in_text(), undrafted = s.place_in_text();
  undrafted.length = {"length_fixed", {{"max_depth", "0"}}};
  if (const RuleContract c = s.rule_contract(); c.reads.coupled)
    spec.drafter = {"draft_model", {{"model", "draft"}, {"method", "coupled"}}};
  Cell drafted(s.registry(), spec), plain(s.registry(), undrafted);
  KeyKeeper probe;
  write(drafted, 1, kSteps, probe);
  if (!probe.by_position_alone()) return "draws noise of its own: law alone is held";
  for (int key = 1; key <= texts; ++key) {
    const auto k = static_cast<std::uint64_t>(key);
    require_same(
        write(drafted, k, kSteps), write(plain, k, kSteps),
        "plain text: a draft changes the text, though no noise but the position's is drawn");
  }
  return std::to_string(texts) + " texts equal plain decoding's";
}

// Up to 64 nodes in levels of any shape.
std::string random_shape(std::uint32_t number) {
  std::string shape;
  int nodes = 0;
  std::uint32_t at = 0;
  const auto dice = [&] { return step::philox4x32({number, at++, 0, 0}, 1)[0]; };
  for (int level = 0, width = 1; level < 6 && width > 0; ++level) {
    int below = 0;
    std::string counts;
    for (int k = 0; k < width; ++k) {
      const int children = level == 0
                               ? 1 + static_cast<int>(dice() % 4)
                               : std::min<int>(static_cast<int>(dice() % 3), 64 - nodes - below);
      below += children;
      counts.append(counts.empty() ? "" : ",").append(std::to_string(children));
    }
    if (below == 0) break;
    shape.append(shape.empty() ? "" : ";").append(counts);
    nodes += below;
    width = below;
  }
  return shape;
}

std::string hold_random_trees(const Subject& s, std::uint32_t trees) {
  static constexpr const char* kMethods[] = {"iid", "new", "top", "greedy"};
  int nodes = 0;
  std::string refused;
  for (std::uint32_t k = 0; k < trees; ++k) {
    CellSpec spec = s.place_in_text();
    spec.drafter = {"draft_tree",
                    {{"model", "draft"}, {"shape", random_shape(k)}, {"method", kMethods[k % 4]}}};
    Cell cell(s.registry(), spec);
    try {
      const Written w = write(cell, k, 3);
      nodes += std::accumulate(w.drafted.begin(), w.drafted.end(), 0);
    } catch (const PluginError& fault) {
      refused = refusal(fault, s.listing().name);
      if (refused.empty()) throw;
    }
  }
  if (nodes == 0) throw Refusal(refused);
  return std::to_string(trees) + " shapes of up to 64 nodes" +
         (refused.empty() ? "" : "; refuses some: " + refused);
}

}  // namespace

std::vector<Check> text_checks(const Subject& s, Effort effort) {
  const bool is_full = effort == Effort::FULL;
  std::vector<Check> all{{"isolation", [&s] { return hold_isolation(s); }},
                         {"cold and warm", [&s] { return hold_warmth(s); }},
                         {"batch and order", [&s] { return hold_company(s); }},
                         {"draw keys", [&s] { return hold_keys(s); }}};
  if (s.listing().kind != Kind::RULE) return all;
  all.push_back({"plain text", [&s, is_full] { return hold_plain_text(s, is_full ? 5000 : 200); }});
  if (s.rule_contract().shape == Shape::TREE)
    all.push_back(
        {"random trees", [&s, is_full] { return hold_random_trees(s, is_full ? 100 : 8); }});
  return all;
}

}  // namespace redline::check
