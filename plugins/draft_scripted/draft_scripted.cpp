// SPDX-License-Identifier: Apache-2.0
// Drafts a given text, made wrong on purpose at given rates: acceptance to order, for measuring
// cost apart from quality and for tests.
#include <charconv>

#include "redline/plugin.hpp"

namespace {

using redline::Token;

// "1, 2,3" as numbers; InputError for anything else.
template <class T>
std::vector<T> listed(std::string_view name, std::string_view text) {
  std::vector<T> out;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    T value{};
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (error != std::errc() || end != item.data() + item.size() || !(value >= 0))
      throw redline::InputError(std::string(name) + ": '" + std::string(item) +
                                "' is not a number from 0; write them with commas between");
    out.push_back(value);
  }
  return out;
}

class DraftScripted final : public redline::Drafter {
 public:
  struct Params {
    std::string ids, right = "1";
    void visit(redline::ParameterVisitor& v) {
      v("ids", ids, "the output to draft, token ids with commas between");
      v("right", right,
        "chance that the token at depth 1, 2, ... is the given one; the last goes on");
    }
  };
  explicit DraftScripted(const Params& p)
      : ids_(listed<Token>("ids", p.ids)), right_(listed<double>("right", p.right)) {
    if (right_.empty()) throw redline::InputError("right is empty; 1 drafts the ids as they are");
    for (const double r : right_)
      if (r > 1) throw redline::InputError("right holds " + std::to_string(r) + ", above 1");
  }

 private:
  redline::DrafterContract do_contract() const override { return {}; }

  void do_propose(std::span<redline::Proposal> batch) override {
    for (redline::Proposal& proposal : batch) {
      redline::Node u = redline::kRoot;
      std::size_t at = proposal.sequence().output().size();
      for (std::size_t depth = 0; at < ids_.size() && u != redline::kNone; ++at, ++depth) {
        if (!proposal.has_room(u)) break;
        const double right = right_[std::min(depth, right_.size() - 1)];
        const bool is_right = proposal.draws().bernoulli(u, right);
        const Token other = (ids_[at] + 1) % proposal.sequence().vocab;
        u = proposal.add(u, is_right ? ids_[at] : other);
      }
    }
  }

  std::vector<Token> ids_;
  std::vector<double> right_;  // by depth
};

}  // namespace

REDLINE_PLUGIN(redline::entry<DraftScripted>("draft_scripted",
                                             "a given text, right at given rates"));
