// SPDX-License-Identifier: Apache-2.0
// What every plugin must survive: the edges of its parameters, of a request and of the rows.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "check/subject.hpp"
#include "check/texts.hpp"
#include "check/vectors.hpp"

namespace redline::check {
namespace {

constexpr double kExact = 1e-9;

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw Error(otherwise);
}

// The values at the ends of what a parameter says it takes: "0 to 64", "iid | new".
std::vector<std::string> edges(const plugin::Parameter& p) {
  std::vector<std::string> out;
  std::istringstream words(p.range);
  for (std::string word; words >> word;)
    if (word != "to" && word != "|" && word != "or") out.push_back(word);
  return out;
}

std::string hold_parameters(const Subject& s) {
  int tried = 0, refused = 0;
  for (const plugin::Parameter& p : s.listing().parameters)
    for (const std::string& value : edges(p)) {
      ++tried;
      CellSpec spec = s.place_in_text();
      for (Choice* choice : {&spec.rule, &spec.drafter, &spec.length})
        if (choice->name == s.listing().name) *choice = s.with(p.name, value);
      if (!spec.links.empty()) spec.links = {s.with(p.name, value)};
      try {
        const Cell cell(s.registry(), spec);
      } catch (const InputError&) {
        ++refused;  // settings that do not fit together may be
      } catch (const PluginError&) {
        ++refused;  // a tree where the partner takes chains
      }
    }
  return std::to_string(tried) + " values made, " + std::to_string(refused) + " refused";
}

// The law of what comes out is the target's, however short the request or the draft.
std::string hold_law(const Subject& s, const Case& c) {
  const Finding f = enumerate(s.registry(), c);
  std::ostringstream tv;
  tv << f.joint_tv;
  require(!s.is_lossless() || f.joint_tv < kExact,
          "lossless law: the text is off plain decoding's by TV " + tv.str());
  return std::to_string(f.runs) + " outcomes";
}

// A broken target row ends its request; a broken draft row costs the draft alone.
std::string hold_nan_rows(const Subject& s) {
  const auto broken = [](const ScriptedModel::Law& law, std::size_t from) -> ScriptedModel::Law {
    return [=](std::span<const Token> text) {
      std::vector<float> row = law(text);
      if (text.size() >= from) row[1] = NAN;
      return row;
    };
  };
  CellSpec spec = s.place_in_text();
  spec.draft = broken(spec.draft, 0);
  Cell with_bad_draft(s.registry(), spec);
  write(with_bad_draft, 1, 10);
  spec = s.place_in_text();
  spec.target = broken(spec.target, 12);
  Cell with_bad_target(s.registry(), spec);
  try {
    write(with_bad_target, 1, 40);
  } catch (const Error&) {
    return "the request ends, the draft falls away";
  }
  throw Error("NaN in the target's rows went unseen");
}

}  // namespace

std::vector<Check> contract_checks(const Subject& s) {
  std::vector<Check> all{{"parameters", [&s] { return hold_parameters(s); }}};
  if (s.listing().kind != Kind::LENGTH)
    all.push_back({"nothing drafted", [&s] {
                     Case c = s.place(VB);
                     c.length = {"length_fixed", {{"max_depth", "0"}}};
                     return hold_law(s, c);
                   }});
  all.push_back({"one token left", [&s] {
                   Case c = s.place(VB);
                   c.tokens_left = 1;
                   return hold_law(s, c);
                 }});
  all.push_back({"stop in the draft", [&s] {
                   Case c = s.place(VB);
                   c.stops = {1};
                   return hold_law(s, c);
                 }});
  all.push_back({"NaN rows", [&s] { return hold_nan_rows(s); }});
  return all;
}

}  // namespace redline::check
