// SPDX-License-Identifier: Apache-2.0
#include "check/enumeration.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace redline::check {

ScriptedModel::Law law_of(const Table& table) {
  return [table](std::span<const Token> text) {
    const auto it = table.find({text.begin() + 1, text.end()});
    std::vector<float> logits = it != table.end() ? it->second : table.at({});
    for (float& x : logits) x = std::log(x);
    return logits;
  };
}

namespace {

constexpr std::int32_t kPages = 16;  // of a few steps from one token on: cells are cheap to make

class Enumeration {
 public:
  Enumeration(const plugin::Registry& registry, const Case& c)
      : case_(c), registry_(registry), target_(law_of(c.tables.p)) {
    open_cell();
  }

  Finding find() {
    Finding f;
    step::Scripted script;
    do {
      script.rewind();
      run_once(script, f);
    } while (script.next());
    f.first = emitted(1);
    f.joint = emitted(longest_);
    f.first_tv = tv(1);
    f.joint_tv = tv(longest_);
    return f;
  }

 private:
  void open_cell() {
    cell_.emplace(
        registry_,
        CellSpec{.vocab = static_cast<std::int32_t>(case_.tables.p.at({}).size()),
                 .target = target_,
                 .draft = law_of(case_.tables.q),
                 .drafter = case_.drafter,
                 .rule = case_.rule,
                 .length = case_.length,
                 .links = case_.links,
                 .links_on_draft = case_.links_on_draft,
                 .pages = kPages,
                 .level = case_.traces_nodes ? trace::Level::CHOSEN : trace::Level::COUNTS,
                 .make_drafter = case_.make_drafter});
  }
  void run_once(step::Scripted& script, Finding& f) {
    if (case_.learns && f.runs > 0) open_cell();
    step::Sequence s = cell_->open({0}, 0, case_.tokens_left);
    s.stop_tokens = case_.stops;
    std::size_t reach = 0;
    std::size_t kept = 0;
    double foretold = 0, told = std::numeric_limits<double>::quiet_NaN();
    for (int k = 0; k < case_.steps; ++k) {
      const step::Progress made = cell_->run(s, script);
      if (!made.error.empty() || !made.bad_draft.empty())
        throw Error("enumeration: " + made.error + made.bad_draft);
      reach += made.drafted + 1;
      kept += made.accepted_by_rule;
      foretold += made.record.expected_accepted;
      if (k == 0 && !made.record.nodes.empty()) told = made.record.nodes.front().tv;
    }
    cell_->step.forget(s);
    longest_ = std::max(longest_, reach);
    emitted_[cut({s.tokens.begin() + 1, s.tokens.end()})] += script.weight();
    f.accepted += script.weight() * static_cast<double>(kept);
    f.by_count.resize(std::max<std::size_t>(f.by_count.size(), kept + 1));
    f.by_count[kept] += script.weight();
    f.expected += script.weight() * foretold;
    f.told_tv = (f.runs == 0 ? 0 : f.told_tv) + script.weight() * told;
    ++f.runs;
  }
  // The text ends with its first stop, as the engine ends it.
  std::vector<Token> cut(std::vector<Token> text) const {
    for (std::size_t k = 0; k < text.size(); ++k)
      if (is_stop(text[k])) text.resize(k + 1);
    return text;
  }
  bool is_stop(Token t) const {
    return std::find(case_.stops.begin(), case_.stops.end(), t) != case_.stops.end();
  }
  Row p(const std::vector<Token>& text) const {
    std::vector<Token> all{0};
    all.insert(all.end(), text.begin(), text.end());
    return cell_->p(all, target_(all));
  }
  void extend(std::vector<Token> text, double weight, std::size_t length, Law& law) const {
    const bool ended = !text.empty() && is_stop(text.back());
    if (ended || text.size() >= length) {
      text.resize(std::min(length, text.size()));
      law[text] += weight;
      return;
    }
    const Row row = p(text);
    for (Token t = 0; t < row.vocab(); ++t) {
      if (row.at(t) <= 0) continue;
      text.push_back(t);
      extend(text, weight * row.at(t), length, law);
      text.pop_back();
    }
  }
  Law emitted(std::size_t length) const {
    Law law;
    for (const auto& [text, weight] : emitted_) extend(text, weight, length, law);
    return law;
  }
  double tv(std::size_t length) const {
    const Law law = emitted(length);
    Law truth;
    extend({}, 1, length, truth);
    double sum = 0;
    for (const auto& [text, w] : law)
      sum += std::abs(w - (truth.contains(text) ? truth.at(text) : 0));
    for (const auto& [text, w] : truth) sum += law.contains(text) ? 0 : w;
    return sum / 2;
  }

  const Case& case_;
  const plugin::Registry& registry_;
  ScriptedModel::Law target_;
  std::optional<Cell> cell_;
  Law emitted_;
  std::size_t longest_ = 1;
};

}  // namespace

Finding enumerate(const plugin::Registry& registry, const Case& c) {
  return Enumeration(registry, c).find();
}

}  // namespace redline::check
