// SPDX-License-Identifier: Apache-2.0
#include "check/subject.hpp"

#include <algorithm>

namespace redline::check {
namespace {

const Choice kChain = {"draft_model", {{"model", "draft"}, {"method", "sample"}}};
const Choice kAmple = {"length_fixed", {{"max_depth", "8"}, {"max_nodes", "64"}}};

}  // namespace

Subject::Subject(const plugin::Registry& registry, plugin::Listing listing,
                 std::map<std::string, std::string> values)
    : registry_(registry), listing_(std::move(listing)), values_(std::move(values)) {
  for (const plugin::Parameter& p : listing_.parameters)
    if (p.name == "model" && p.fallback.empty()) values_.emplace("model", "draft");
}

Choice Subject::with(const std::string& name, const std::string& value) const {
  Choice out = choice();
  out.values[name] = value;
  return out;
}

CellSpec Subject::host_spec(std::int32_t vocab) {
  return {.vocab = vocab,
          .target = hashed(vocab, 1, 6),
          .draft = hashed(vocab, 1, 4),
          .drafter = {"draft_none"},
          .rule = {"accept_match"},
          .length = kAmple};
}
RuleContract Subject::rule_contract() const { return make<AcceptanceRule>()->contract(); }
DrafterContract Subject::drafter_contract() const {
  if (!drafter_contract_) drafter_contract_ = make<Drafter>()->contract();
  return *drafter_contract_;
}
Reads Subject::reads() const {
  return listing_.kind == Kind::LENGTH ? make<DraftLength>()->reads() : Reads::HISTORY;
}

bool Subject::is_lossless() const {
  return listing_.kind != Kind::RULE || rule_contract().claim != Claim::APPROXIMATE;
}

Choice Subject::partner_rule() const {
  if (listing_.kind != Kind::DRAFTER) return {"accept_ratio"};
  const DrafterContract contract = drafter_contract();
  if (!contract.emits.row) return {"accept_match"};
  return {contract.shape == Shape::CHAIN ? "accept_ratio" : "accept_multiround"};
}

Choice Subject::partner_drafter() const {
  const bool couples = listing_.kind == Kind::RULE && rule_contract().reads.coupled;
  return {"draft_model", {{"model", "draft"}, {"method", couples ? "coupled" : "sample"}}};
}

Case Subject::place(const Pair& tables, const std::string& shape, const std::string& method) const {
  const Kind kind = listing_.kind;
  const int levels = 1 + static_cast<int>(std::count(shape.begin(), shape.end(), ';'));
  const bool is_chain = shape.find_first_not_of("1;") == std::string::npos;
  Case c{.tables = tables, .rule = partner_rule(), .drafter = kChain, .length = kAmple};
  c.tokens_left = levels + 1;  // a chain of a drafter's own length ends there
  if (!is_chain || method != "iid")
    c.drafter = {"draft_tree", {{"model", "draft"}, {"shape", shape}, {"method", method}}};
  if (kind != Kind::DRAFTER && !is_chain) c.rule = {"accept_multiround"};
  if (kind == Kind::RULE) c.rule = choice();
  if (kind == Kind::DRAFTER) c.drafter = choice();
  if (kind == Kind::LENGTH) c.length = choice(), c.learns = reads() != Reads::HISTORY;
  if (kind == Kind::SAMPLER) c.links = {choice()};
  return c;
}

CellSpec Subject::place_in_text() const {
  static const Pair unused;
  const Case c = place(unused);
  return {.vocab = kSmall,
          .target = hashed(kSmall, 1, 6),
          .draft = hashed(kSmall, 1, 4),
          .drafter = c.drafter,
          .rule = c.rule,
          .length = c.length,
          .links = c.links};
}

}  // namespace redline::check
