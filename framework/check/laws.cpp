// SPDX-License-Identifier: Apache-2.0
// Every outcome of a step with the plugin in it: whether the joint law of D+1 tokens is plain
// decoding's, and how many tokens are kept.
#include <cmath>
#include <exception>
#include <sstream>

#include "check/apart.hpp"
#include "check/subject.hpp"
#include "check/vectors.hpp"

namespace redline::check {
namespace {

constexpr double kExact = 1e-9, kForetold = 1e-6;  // what a rule foretells is stored as float32

struct Named {
  const char* name;
  const Pair& tables;
};
const Named kVectors[] = {{"VA", VA}, {"VB", VB}, {"VC", VC}, {"V2", V2}, {"C1", C1}};

std::string brief(double x) {
  std::ostringstream out;
  out.precision(6);
  out << x;
  return out.str();
}

// What a finding violates, by name; empty when nothing.
std::string violation(const Finding& f, bool is_lossless) {
  if (is_lossless && f.first_tv > kExact) return "first-token law: off by TV " + brief(f.first_tv);
  if (is_lossless && f.joint_tv > kExact)
    return "joint law: off by TV " + brief(f.joint_tv) + ", the first token hides it";
  if (!std::isnan(f.expected) && std::abs(f.expected - f.accepted) > kForetold)
    return "expected_accepted: foretells " + brief(f.expected) + ", keeps " + brief(f.accepted);
  return "";
}

// Why a rule refuses a draft: an Error of its own that begins with its name, as a user would read
// it. Empty for any other fault, such as noise put to a wrong use or a chance above 1.
std::string refusal(const PluginError& fault, const std::string& rule) {
  try {
    std::rethrow_if_nested(fault);
  } catch (const Error& cause) {
    if (std::string_view(cause.what()).starts_with(rule + ": ")) return cause.what();
  } catch (...) {
  }
  return "";
}

// Kept tokens of each vector and shape; a draft that the rule refuses is left out, with its reason.
class Survey {
 public:
  Survey(const Subject& subject, std::string method)
      : subject_(subject), method_(std::move(method)), is_lossless_(subject.is_lossless()) {}

  std::string over(const std::vector<std::string>& shapes) {
    for (const Named& v : kVectors) {
      said_ += (said_.empty() ? "" : "; ") + std::string(v.name);
      for (const std::string& shape : shapes) add(v, shape);
    }
    if (held_ == 0) throw Refusal(refusal_);
    if (!is_lossless_) said_ += "; TV up to " + brief(worst_tv_ > kExact ? worst_tv_ : 0);
    return "keeps " + said_ + (refusal_.empty() ? "" : "; refuses some: " + refusal_);
  }

 private:
  void add(const Named& v, const std::string& shape) {
    Finding f;
    try {
      f = enumerate(subject_.registry(), subject_.place(v.tables, shape, method_));
    } catch (const PluginError& fault) {
      refusal_ = refusal(fault, subject_.listing().name);
      if (refusal_.empty()) throw;
      said_ += " -";
      return;
    }
    ++held_;
    worst_tv_ = std::max(worst_tv_, f.joint_tv);
    said_ += ' ' + brief(f.accepted);
    if (const std::string wrong = violation(f, is_lossless_); !wrong.empty())
      throw Error(wrong + " (" + v.name + ", shape " + shape + ")");
  }

  const Subject& subject_;
  std::string method_, said_, refusal_;
  bool is_lossless_;
  int held_ = 0;
  double worst_tv_ = 0;
};

}  // namespace

std::vector<Check> law_checks(const Subject& s) {
  const auto survey = [&s](const char* name, const char* method,
                           const std::vector<std::string>& shapes) {
    return Check{name, [&s, method, shapes] { return Survey(s, method).over(shapes); }};
  };
  if (s.listing().kind != Kind::RULE) return {survey("law", "iid", {"1;1"})};
  const bool is_chain = s.rule_contract().shape == Shape::CHAIN;
  std::vector<Check> all{survey("law of chains", "iid", {"1", "1;1", "1;1;1"}),
                         survey("law of given tokens", "top", {"1;1", is_chain ? "1" : "2;1,1"})};
  if (is_chain) return all;
  all.push_back(survey("law of siblings, i.i.d.", "iid", {"2", "3"}));
  all.push_back(survey("law of siblings, new", "new", {"2", "3"}));
  all.push_back(survey("law of trees, i.i.d.", "iid", {"2;1,1"}));
  all.push_back(survey("law of trees, new", "new", {"2;1,1"}));
  return all;
}

}  // namespace redline::check
