// SPDX-License-Identifier: Apache-2.0
// The plugin under check among plain partners: the cells its checks run.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/apart.hpp"
#include "check/enumeration.hpp"
#include "check/said.hpp"

namespace redline::check {

class Subject {
 public:
  // values: parameters as the user gave them. A parameter `model` without one is the draft model.
  Subject(const plugin::Registry& registry, plugin::Listing listing,
          std::map<std::string, std::string> values);

  const plugin::Registry& registry() const { return registry_; }
  const plugin::Listing& listing() const { return listing_; }
  Choice choice() const { return {listing_.name, values_}; }
  Choice with(const std::string& name, const std::string& value) const;

  bool is_lossless() const;            // false for an approximate rule alone
  RuleContract rule_contract() const;  // of a rule
  DrafterContract drafter_contract() const;
  Reads reads() const;  // HISTORY but for a length policy

  // The plugin itself beside a host that keeps what it opened.
  template <class T>
  struct Made {
    std::unique_ptr<Cell> host;
    std::unique_ptr<T> plugin;
    T* operator->() const { return plugin.get(); }
    T& operator*() const { return *plugin; }
  };
  static constexpr std::int32_t kSmall = 8;  // the vocabulary of most checks
  std::unique_ptr<Cell> host(std::int32_t vocab = kSmall) const {
    return std::make_unique<Cell>(registry_, host_spec(vocab));
  }
  template <class T>
  Made<T> make(std::int32_t vocab = kSmall) const {
    auto cell = host(vocab);
    auto plugin = registry_.make<T>(listing_.name, choice().arguments(), *cell);
    return {std::move(cell), std::move(plugin)};
  }

  // The rule that shows a lie of a drafter: one that reads rows if there are any.
  Choice partner_rule() const;
  Choice partner_drafter() const;  // of a rule: a chain of what it reads

  // The plugin with partners that fit it, on a chain of drafted tokens or, for a rule, any shape.
  Case place(const Pair& tables, const std::string& shape = "1;1",
             const std::string& method = "iid") const;
  // The same over long texts, V = 8.
  CellSpec place_in_text() const;

 private:
  static CellSpec host_spec(std::int32_t vocab);
  const plugin::Registry& registry_;
  plugin::Listing listing_;
  std::map<std::string, std::string> values_;
  mutable std::optional<DrafterContract>
      drafter_contract_;  // asked once: to make one may take long
};

struct Check {
  std::string name;
  std::function<Said()> run;  // what there is to say; throws what is wrong
};
enum class Effort : std::uint8_t { QUICK, FULL };  // seconds, minutes

std::vector<Check> contract_checks(const Subject& subject);
std::vector<Check> text_checks(const Subject& subject, Effort effort);
std::vector<Check> random_draft_checks(const Subject& subject, Effort effort);
std::vector<Check> law_checks(const Subject& subject, Effort effort);
std::vector<Check> tv_checks(const Subject& subject);                    // of an approximate rule
std::vector<Check> draft_checks(const Subject& subject, Effort effort);  // of a drafter
std::vector<Check> sampler_checks(const Subject& subject);               // of a sampler
std::vector<Check> length_checks(const Subject& subject);                // of a length policy
std::vector<Check> cost_checks(const Subject& subject);

}  // namespace redline::check
