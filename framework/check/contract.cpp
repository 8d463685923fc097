// SPDX-License-Identifier: Apache-2.0
// What every plugin must survive: the edges of its parameters, of a request and of the rows.
#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <sstream>

#include "check/subject.hpp"
#include "check/survey.hpp"
#include "check/texts.hpp"
#include "check/vectors.hpp"

namespace redline::check {
namespace {

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

// What a listing shows a user must be so: a text, and defaults that may be written out.
std::string hold_listing(const Subject& s) {
  const plugin::Listing& l = s.listing();
  require(!l.about.empty(), "listing: says nothing of what the plugin is");
  for (const plugin::Parameter& p : l.parameters) {
    require(!p.about.empty(), "listing: says nothing of the parameter " + p.name);
    if (p.fallback.empty()) continue;
    try {
      s.registry().check(l.kind, l.name, {{p.name, p.fallback, "its default"}});
    } catch (const InputError& fault) {
      throw Error("listing: the default of " + p.name + " may not be given: " + fault.what());
    }
  }
  return std::to_string(l.parameters.size()) + " parameters, each as it is listed";
}

bool is_in_its_own_words(const PluginError& fault) {
  try {
    std::rethrow_if_nested(fault);
  } catch (const Error&) {
    return true;
  } catch (...) {
  }
  return false;
}

// Throws what is no refusal: a process that is not ready within a millisecond may say so.
void make_alone(const Subject& s, const std::string& parameter, const std::string& value) {
  const auto host = s.host();
  try {
    s.registry().make(s.listing().kind, s.listing().name, s.with(parameter, value).arguments(),
                      *host);
  } catch (const PluginError& fault) {
    if (!is_in_its_own_words(fault)) throw;
  }
}

// Whether it was made; then it must also write.
bool writes_with(const Subject& s, const std::string& parameter, const std::string& value) {
  constexpr int kSteps = 3;
  CellSpec spec = s.place_in_text();
  for (Choice* choice : {&spec.rule, &spec.drafter, &spec.length})
    if (choice->name == s.listing().name) *choice = s.with(parameter, value);
  if (!spec.links.empty()) spec.links = {s.with(parameter, value)};
  std::optional<Cell> cell;
  try {
    cell.emplace(s.registry(), spec);
  } catch (const InputError&) {
    return false;  // settings that do not fit together may be refused
  } catch (const PluginError&) {
    make_alone(s, parameter, value);
    return false;  // a tree where the partner takes chains
  }
  try {
    write(*cell, 1, kSteps, BadDrafts::PASS);  // an id above a small V, say
  } catch (const Error& fault) {
    throw Error("parameters: with " + parameter + " = " + value + ": " + fault.what());
  }
  return true;
}

std::string hold_parameters(const Subject& s) {
  int tried = 0, refused = 0;
  for (const plugin::Parameter& p : s.listing().parameters)
    for (const std::string& value : edges(p)) {
      ++tried;
      refused += writes_with(s, p.name, value) ? 0 : 1;
    }
  return std::to_string(tried) + " values written with, " + std::to_string(refused) + " refused";
}

// The law of what comes out is the target's, however short the request or the draft.
std::string hold_law(const Subject& s, const Case& c) {
  const Finding f = enumerate(s.registry(), c);
  require(!s.is_lossless() || f.joint_tv < kExact,
          "lossless law: the text is off plain decoding's by TV " + brief(f.joint_tv));
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
  write(with_bad_draft, 1, 10, BadDrafts::PASS);
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
  std::vector<Check> all{{"listing", [&s] { return hold_listing(s); }},
                         {"parameters", [&s] { return hold_parameters(s); }}};
  all.push_back({"nothing drafted", [&s] {
                   Case c = s.place(VB);
                   if (s.listing().kind == Kind::LENGTH)
                     c.drafter = {"draft_none"}, c.rule = {"accept_match"};
                   else
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
  if (s.listing().kind == Kind::RULE && s.rule_contract().shape == Shape::TREE)
    all.push_back({"stop in a tree", [&s] {
                     Case c = s.place(VB, "2;1,1");
                     c.stops = {1};
                     return hold_law(s, c);
                   }});
  all.push_back({"NaN rows", [&s] { return hold_nan_rows(s); }});
  return all;
}

}  // namespace redline::check
