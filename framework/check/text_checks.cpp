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
constexpr int kFullBatch = 256;

void require_same(const Written& a, const Written& b, const char* otherwise) {
  if (a.tokens != b.tokens) throw Error(otherwise);
}

// Text that a draft cannot change, as that of match, hides what was drafted.
std::string other_drafts(const Written& a, const Written& b) {
  return a.drafted == b.drafted ? "" : "; what is drafted differs";
}

std::string count(const Written& w) { return std::to_string(w.tokens.size()) + " tokens"; }

std::string hold_isolation(const Subject& s) {
  Cell cell(s.registry(), s.place_in_text());
  const Written first = write(cell, 1, kSteps);
  write(cell, 2, kSteps);
  const Written again = write(cell, 1, kSteps);
  require_same(again, first, "isolation: a request's text depends on the request before it");
  return count(first) + ", twice the same" + other_drafts(again, first);
}

std::string hold_warmth(const Subject& s) {
  Cell warm(s.registry(), s.place_in_text()), cold(s.registry(), s.place_in_text());
  for (const std::uint64_t key : {2, 3, 4}) write(warm, key, kSteps);
  const Written first = write(cold, 1, kSteps);
  const Written later = write(warm, 1, kSteps);
  require_same(later, first,
               "cold and warm: a request's text depends on how long the plugin has run");
  return count(first) + ", cold and warm the same" + other_drafts(later, first);
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

// More at once than any small table of a plugin holds.
std::string hold_full_batch(const Subject& s) {
  constexpr int kFullSteps = 4;
  CellSpec spec = s.place_in_text();
  spec.pages = 4096;
  spec.max_rows = 8192;
  Cell cell(s.registry(), spec);
  std::vector<std::uint64_t> keys(kFullBatch);
  std::iota(keys.begin(), keys.end(), 1);
  const std::vector<Written> together = write_together(cell, keys, kFullSteps);
  const std::string said = std::to_string(kFullBatch) + " requests in one step";
  if (s.reads() != Reads::HISTORY) return said;
  for (const std::size_t k : {std::size_t{0}, keys.size() / 2, keys.size() - 1})
    require_same(together[k], write(cell, keys[k], kFullSteps),
                 "full batch: a request's text depends on how many are beside it");
  return said + ", the same alone";
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

}  // namespace

std::vector<Check> text_checks(const Subject& s, Effort effort) {
  const bool is_full = effort == Effort::FULL;
  std::vector<Check> all{{"isolation", [&s] { return hold_isolation(s); }},
                         {"cold and warm", [&s] { return hold_warmth(s); }},
                         {"batch and order", [&s] { return hold_company(s); }},
                         {"full batch", [&s] { return hold_full_batch(s); }},
                         {"draw keys", [&s] { return hold_keys(s); }}};
  if (s.listing().kind == Kind::RULE)
    all.push_back(
        {"plain text", [&s, is_full] { return hold_plain_text(s, is_full ? 5000 : 200); }});
  return all;
}

}  // namespace redline::check
