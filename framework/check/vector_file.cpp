// SPDX-License-Identifier: Apache-2.0
#include "check/vector_file.hpp"

#include <cmath>
#include <sstream>

#include "check/closed_form.hpp"

namespace redline::check {
namespace {

using config::Value;

constexpr double kSumsToOne = 1e-4;  // as rows are held to
constexpr double kExact = 1e-9, kSameMean = 1e-6;

std::vector<float> read_law(const Value& list, std::size_t vocab) {
  std::vector<float> p;
  double sum = 0;
  for (const Value& x : list.list()) sum += p.emplace_back(static_cast<float>(x.number(0, 1)));
  if (vocab != 0 && p.size() != vocab)
    list.refuse("has " + std::to_string(p.size()) + " probabilities, p has " +
                std::to_string(vocab));
  if (std::abs(sum - 1) > kSumsToOne) list.refuse("sums to " + std::to_string(sum) + ", not to 1");
  return p;
}

// "" or "0 2": the tokens below the root that come before.
std::vector<Token> read_context(const std::string& text, const Value& at, std::size_t vocab) {
  std::istringstream words(text);
  std::vector<Token> out;
  for (Token t; words >> t;) out.push_back(t);
  for (const Token t : out)
    if (t < 0 || static_cast<std::size_t>(t) >= vocab)
      at.refuse("names token " + std::to_string(t) + ", V is " + std::to_string(vocab));
  if (!words.eof()) at.refuse("is no list of token ids");
  return out;
}

Table read_table(const Value& value, std::size_t vocab) {
  if (value.type == Value::Type::LIST) return {{{}, read_law(value, vocab)}};
  const Value& root = value.at("");
  if (vocab == 0) vocab = root.list().size();
  Table out;
  for (const auto& [context, law] : value.fields)
    out[read_context(context, law, vocab)] = read_law(law, vocab);
  return out;
}

VectorCase read_case(const Value& value) {
  value.only({"name", "p", "q", "shapes", "method", "accepted"}, "vectors");
  VectorCase out;
  out.laws.name = value.at("name").text();
  out.laws.tables.p = read_table(value.at("p"), 0);
  out.laws.tables.q = read_table(value.at("q"), out.laws.tables.p.at({}).size());
  const Value* method = value.find("method");
  out.method = method ? method->text() : "iid";
  for (const Value& shape : value.at("shapes").list()) out.shapes.push_back(shape.text());
  if (const Value* accepted = value.find("accepted"))
    for (const auto& [shape, count] : accepted->fields) out.accepted[shape] = count.number(0, 64);
  return out;
}

Value law_value(const redline::check::Law& law) {
  Value out = Value::map();
  for (const auto& [text, weight] : law) {
    std::string key;
    for (const Token t : text) key.append(key.empty() ? "" : " ").append(std::to_string(t));
    out.put(key, Value::of(weight));
  }
  return out;
}

class Examined {  // one vector in one shape
 public:
  Examined(const Subject& s, const VectorCase& v, const std::string& shape)
      : is_lossless_(s.is_lossless()),
        found_(enumerate(s.registry(), s.place(v.laws.tables, shape, v.method))) {
    const bool is_rule = s.listing().kind == Kind::RULE;
    if (v.method == "iid" && is_rule) {
      closed_ = kept_by(s.listing().name, v.laws.tables, shape);
      if (is_lossless_) best_ = kept_at_best(v.laws.tables, shape);
    }
    if (const auto given = v.accepted.find(shape); given != v.accepted.end())
      closed_ = given->second;
  }

  std::string json() const {
    const auto number = [](const std::optional<double>& x) { return x ? Value::of(*x) : Value(); };
    return config::to_json(Value::map()
                               .put("accepted", Value::of(found_.accepted))
                               .put("foretold", Value::of(found_.expected))
                               .put("closed_form", number(closed_))
                               .put("at_best", number(best_))
                               .put("first_tv", Value::of(found_.first_tv))
                               .put("joint_tv", Value::of(found_.joint_tv))
                               .put("first", law_value(found_.first))
                               .put("joint", law_value(found_.joint))
                               .put("fault", Value::of(fault())));
  }

 private:
  std::string fault() const {
    const auto differs = [this](double x) { return std::abs(found_.accepted - x) > kSameMean; };
    if (is_lossless_ && found_.first_tv > kExact) return "first-token law";
    if (is_lossless_ && found_.joint_tv > kExact) return "joint law";
    if (!std::isnan(found_.expected) && differs(found_.expected)) return "expected_accepted";
    if (closed_ && differs(*closed_)) return "closed form";
    if (best_ && found_.accepted > *best_ + kSameMean) return "more than a lossless rule can keep";
    return "";
  }
  bool is_lossless_;
  Finding found_;
  std::optional<double> closed_, best_;
};

}  // namespace

std::vector<VectorCase> load_vectors(const std::filesystem::path& file) {
  const Value root = config::load(file);
  root.only({"vectors"}, "vectors");
  std::vector<VectorCase> out;
  for (const Value& value : root.at("vectors").list()) out.push_back(read_case(value));
  return out;
}

std::vector<Check> vector_checks(const Subject& s, const std::vector<VectorCase>& cases) {
  std::vector<Check> all;
  for (const VectorCase& v : cases)
    for (const std::string& shape : v.shapes)
      all.push_back({v.laws.name + ", " + shape,
                     [&s, &v, shape] { return Said(Examined(s, v, shape).json()); }});
  return all;
}

}  // namespace redline::check
