// SPDX-License-Identifier: Apache-2.0
#include "check/mixed_drafter.hpp"

#include <algorithm>
#include <sstream>

#include "step/draws.hpp"

namespace redline::check {
namespace {

enum class How : std::uint8_t { SAMPLED, SAMPLED_NEW, GIVEN };

struct Slot {  // a node of the full shape
  int parent;  // its slot; 0 is the root
  How how;
};

// "2;2,1" in the order of levels.
std::vector<Slot> slots_of(const std::string& shape) {
  std::vector<Slot> slots;
  std::vector<int> level{0};
  std::istringstream levels(shape);
  for (std::string counts; std::getline(levels, counts, ';');) {
    std::vector<int> below;
    for (std::size_t k = 0; k < level.size(); ++k) {
      const int children = 2 * k < counts.size() ? counts[2 * k] - '0' : 0;
      for (int c = 0; c < children; ++c) {
        slots.push_back({level[k], How::SAMPLED});
        below.push_back(static_cast<int>(slots.size()));
      }
    }
    level = std::move(below);
  }
  return slots;
}

void mix(std::vector<Slot>& slots, std::uint32_t number) {
  const auto is_given = [](const Slot& s) { return s.how == How::GIVEN; };
  for (std::uint32_t round = 0;; ++round) {
    for (std::size_t k = 0; k < slots.size(); ++k)
      slots[k].how = static_cast<How>(
          step::philox4x32({number, round, static_cast<std::uint32_t>(k), 0}, 2)[0] % 3);
    const auto given = std::ranges::count_if(slots, is_given);
    if (slots.size() < 2 || (given > 0 && given < std::ssize(slots))) return;
  }
}

class MixedDrafter final : public Drafter {
 public:
  MixedDrafter(std::vector<Slot> slots, Shape shape, Host& host)
      : slots_(std::move(slots)), shape_(shape), model_(host.open_model("draft")) {
    name_as("mixed drafts");
  }

 private:
  DrafterContract do_contract() const override { return {.emits = {.row = true}, .shape = shape_}; }

  void do_propose(std::span<Proposal> batch) override {
    for (Proposal& proposal : batch) {
      std::vector<Node> nodes{kRoot};
      for (const Slot& slot : slots_) nodes.push_back(grow(proposal, nodes[slot.parent], slot.how));
    }
  }

  Node grow(Proposal& proposal, Node parent, How how) const {
    if (parent == kNone || !proposal.has_room(parent)) return kNone;
    const Row q = model_.next(proposal, parent);
    if (how == How::SAMPLED) return proposal.sample(parent, q);
    if (how == How::SAMPLED_NEW) return proposal.sample_new(parent, q);
    return proposal.add(parent, given(proposal, parent), q);
  }

  // Any token will do: the first that no sibling has, begun elsewhere at each depth.
  static Token given(const Proposal& proposal, Node parent) {
    const Draft& draft = proposal.draft();
    const int vocab = draft.vocab();
    for (int k = 0; k < vocab; ++k) {
      const Token token = (draft.depth(parent) + k) % vocab;
      if (draft.child(parent, token) == kNone) return token;
    }
    return 0;
  }

  std::vector<Slot> slots_;
  Shape shape_;
  Model& model_;
};

}  // namespace

MakeDrafter mixed_drafter(const std::string& shape, std::uint32_t number) {
  std::vector<Slot> slots = slots_of(shape);
  mix(slots, number);
  const bool is_chain = shape.find_first_not_of("1;") == std::string::npos;
  return [slots = std::move(slots), is_chain](Host& host) {
    return std::make_unique<MixedDrafter>(slots, is_chain ? Shape::CHAIN : Shape::TREE, host);
  };
}

}  // namespace redline::check
