// SPDX-License-Identifier: Apache-2.0
// Texts written through a cell over hashed models: what a plugin leaves in them, and what it must
// not.
#pragma once
#include "check/cell.hpp"

namespace redline::check {

struct Written {
  std::vector<Token> tokens;
  std::vector<int> drafted;  // of each step
  bool operator==(const Written&) const = default;
};

// What a drafter throws costs the draft; a check may want that said.
enum class BadDrafts : std::uint8_t { FAIL, PASS };

// One request to its end, or so many steps of it. Error: it ended with an error.
Written write(Cell& cell, std::uint64_t key, int steps, BadDrafts bad = BadDrafts::FAIL);
Written write(Cell& cell, std::uint64_t key, int steps, step::Oracle& oracle);
// Several together, in the order of their keys; `between` runs after each step.
std::vector<Written> write_together(Cell& cell, const std::vector<std::uint64_t>& keys, int steps,
                                    const std::function<void()>& between = {});

// Philox that knows how each key was used: asked twice is a fault.
class KeyKeeper final : public step::Oracle {
 public:
  bool flip(const step::Key& key, double prob) override;
  Token pick(const step::Key& key, const Row& row) override;
  Token race(const step::Key& key, const Row& row) override;
  long draws() const { return draws_; }
  bool by_position_alone() const { return is_by_position_; }  // no rule's chance but T and G

 private:
  void note(const step::Key& key);
  step::Philox noise_;
  std::map<step::Key, int> seen_;
  long draws_ = 0;
  bool is_by_position_ = true;
};

}  // namespace redline::check
