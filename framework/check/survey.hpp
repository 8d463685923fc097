// SPDX-License-Identifier: Apache-2.0
// Many laws in many shapes with one plugin: what each keeps, what any of them violates, and which
// drafts the plugin refuses.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "check/named.hpp"
#include "check/said.hpp"
#include "check/subject.hpp"

namespace redline::check {

inline constexpr double kExact = 1e-9;
inline constexpr double kForetold = 1e-6;  // what a rule foretells is stored as float32

std::string brief(double x);  // six digits

using Vectors = std::vector<Named>;
using Shapes = std::vector<std::string>;

class Survey {
 public:
  Survey(const Subject& subject, std::string method);

  // `change` makes of each case another: links, budgets, steps. Error: what was violated, by name.
  using Change = std::function<void(Case&)>;
  Said over(const Vectors& vectors, const Shapes& shapes, const Change& change = {});
  // The same over random contexts with exact zeros, of which only the number is told.
  Said over_random(int contexts, const Shapes& shapes);
  // Likewise, every node of another law: sampled, sampled without replacement, or given.
  Said over_mixed(int contexts, const Shapes& shapes);

 private:
  struct Formulas {  // what is known of the kept tokens
    std::optional<double> closed, at_best;
  };
  using ChangeOf = std::function<void(Case&, int context, const std::string& shape)>;
  Said over_contexts(int contexts, const Shapes& shapes, const ChangeOf& change);
  void add(const Named& v, const std::string& shape, const Change& change);
  Formulas formulas(const Named& v, const std::string& shape) const;
  std::string violation(const Finding& f, const Formulas& known) const;
  void note(const Named& v, const std::string& shape, const Finding& f, const Formulas& known);
  std::string closing() const;

  const Subject& subject_;
  std::string method_, said_, refusal_;
  bool is_lossless_;
  int held_ = 0, closed_ = 0;
  long runs_ = 0;
  double worst_tv_ = 0;
  std::vector<config::Value> figures_;
};

}  // namespace redline::check
