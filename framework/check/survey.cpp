// SPDX-License-Identifier: Apache-2.0
#include "check/survey.hpp"

#include <cmath>
#include <sstream>

#include "check/apart.hpp"
#include "check/closed_form.hpp"
#include "check/mixed_drafter.hpp"
#include "check/random_laws.hpp"

namespace redline::check {

std::string brief(double x) {
  std::ostringstream out;
  out.precision(6);
  out << x;
  return out.str();
}

Survey::Survey(const Subject& subject, std::string method)
    : subject_(subject), method_(std::move(method)), is_lossless_(subject.is_lossless()) {}

Said Survey::over(const Vectors& vectors, const Shapes& shapes, const Change& change) {
  for (const Named& v : vectors) {
    said_ += (said_.empty() ? "" : "; ") + v.name;
    for (const std::string& shape : shapes) add(v, shape, change);
  }
  return {"keeps " + said_ + closing(), config::Value::list_of(std::move(figures_))};
}

Said Survey::over_random(int contexts, const Shapes& shapes) {
  return over_contexts(contexts, shapes, {});
}

Said Survey::over_mixed(int contexts, const Shapes& shapes) {
  return over_contexts(contexts, shapes, [](Case& c, int context, const std::string& shape) {
    c.make_drafter = mixed_drafter(shape, static_cast<std::uint32_t>(context));
  });
}

Said Survey::over_contexts(int contexts, const Shapes& shapes, const ChangeOf& change) {
  for (int k = 0; k < contexts; ++k) {
    const Named v{"random context " + std::to_string(k),
                  random_pair(static_cast<std::uint32_t>(k))};
    for (const std::string& shape : shapes)
      add(v, shape, change ? [&](Case& c) { change(c, k, shape); } : Change{});
  }
  return {std::to_string(contexts) + " contexts, " + std::to_string(shapes.size()) + " shapes, " +
          std::to_string(runs_) + " outcomes" + closing()};
}

std::string Survey::closing() const {
  if (held_ == 0) throw Refusal(refusal_);
  std::string out;
  if (closed_ > 0) out += "; " + std::to_string(closed_) + " as by the closed form";
  if (!is_lossless_) out += "; TV up to " + brief(worst_tv_ > kExact ? worst_tv_ : 0);
  return out + (refusal_.empty() ? "" : "; refuses some: " + refusal_);
}

void Survey::add(const Named& v, const std::string& shape, const Change& change) {
  Finding f;
  try {
    Case c = subject_.place(v.tables, shape, method_);
    if (change) change(c);
    f = enumerate(subject_.registry(), c);
  } catch (const PluginError& fault) {
    refusal_ = refusal(fault, subject_.listing().name);
    if (refusal_.empty()) throw;
    said_ += " -";
    return;
  }
  const Formulas known = change ? Formulas{} : formulas(v, shape);
  if (const std::string wrong = violation(f, known); !wrong.empty())
    throw Error(wrong + " (" + v.name + ", shape " + shape + ")");
  note(v, shape, f, known);
}

// Only of siblings drawn i.i.d. from the tables as they stand.
Survey::Formulas Survey::formulas(const Named& v, const std::string& shape) const {
  if (method_ != "iid" || subject_.listing().kind != Kind::RULE) return {};
  Formulas out{.closed = kept_by(subject_.listing().name, v.tables, shape), .at_best = {}};
  if (is_lossless_) out.at_best = kept_at_best(v.tables, shape);
  return out;
}

std::string Survey::violation(const Finding& f, const Formulas& known) const {
  if (is_lossless_ && f.first_tv > kExact) return "first-token law: off by TV " + brief(f.first_tv);
  if (is_lossless_ && f.joint_tv > kExact)
    return "joint law: off by TV " + brief(f.joint_tv) + ", the first token hides it";
  if (!std::isnan(f.expected) && std::abs(f.expected - f.accepted) > kForetold)
    return "expected_accepted: foretells " + brief(f.expected) + ", keeps " + brief(f.accepted);
  if (known.closed && std::abs(*known.closed - f.accepted) > kForetold)
    return "closed form: keeps " + brief(f.accepted) + ", by the formula " + brief(*known.closed);
  if (known.at_best && f.accepted > *known.at_best + kForetold)
    return "bound: keeps " + brief(f.accepted) + ", a lossless rule at most " +
           brief(*known.at_best);
  return "";
}

void Survey::note(const Named& v, const std::string& shape, const Finding& f,
                  const Formulas& known) {
  const auto number = [](const std::optional<double>& x) {
    return x ? config::Value::of(*x) : config::Value();
  };
  ++held_;
  closed_ += known.closed ? 1 : 0;
  runs_ += f.runs;
  worst_tv_ = std::max(worst_tv_, f.joint_tv);
  said_ += ' ' + brief(f.accepted);
  figures_.push_back(config::Value::map()
                         .put("vector", config::Value::of(v.name))
                         .put("shape", config::Value::of(shape))
                         .put("accepted", config::Value::of(f.accepted))
                         .put("closed_form", number(known.closed))
                         .put("at_best", number(known.at_best))
                         .put("first_tv", config::Value::of(f.first_tv))
                         .put("joint_tv", config::Value::of(f.joint_tv)));
}

}  // namespace redline::check
