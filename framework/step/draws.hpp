// SPDX-License-Identifier: Apache-2.0
// Where decisions come from (Philox or a script), the keys they carry, and the log that holds a
// plugin to the laws of noise.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "redline/draft.hpp"
#include "redline/draws.hpp"
#include "redline/kernels/philox.hpp"
#include "redline/plugin.hpp"
#include "trace/records.hpp"

namespace redline::step {

enum class Stream : std::uint8_t { DRAFT, ACCEPT, RESIDUAL, TARGET, GUMBEL };  // D, A, R, T, G
enum class Phase : std::uint8_t { DRAFT, JUDGE };

// Names one draw for ever. TARGET and GUMBEL, which decide a target token, are keyed by position
// alone (step, node and draw are 0): the same noise as plain decoding with the same seed.
struct Key {
  std::uint64_t seed, request;
  Stream stream;
  std::int64_t position;  // of the token decided, < 2^32
  std::uint32_t step;     // the sequence's own count of verify steps; survives preemption
  Node node;              // < 2^16
  std::int32_t draw;      // < 2^12, counts the draws of one stream at one node
  auto operator<=>(const Key&) const = default;
};

class Oracle {
 public:
  virtual ~Oracle() = default;
  virtual bool flip(const Key& key, double prob) = 0;
  virtual Token pick(const Key& key, const Row& row) = 0;  // from the row
  virtual Token race(const Key& key, const Row& row) = 0;  // argmax of log p + Gumbel noise
};

using kernels::PhiloxBlock, kernels::philox4x32;

// Stateless: a decision is a function of its key.
class Philox final : public Oracle {
 public:
  bool flip(const Key& key, double prob) override;
  Token pick(const Key& key, const Row& row) override;
  Token race(const Key& key, const Row& row) override;
};

// Every outcome once: run, then next() until it says no.
class Scripted final : public Oracle {
 public:
  void rewind() { cursor_ = 0; }
  bool next();            // moves the last decision that has another outcome
  double weight() const;  // of the run just made
  bool flip(const Key&, double prob) override { return decide({1 - prob, prob}) == 1; }
  Token pick(const Key&, const Row& row) override;
  Token race(const Key& key, const Row& row) override { return pick(key, row); }

 private:
  struct Decision {
    std::vector<double> weights;
    int outcome;
  };
  int decide(std::vector<double> weights);
  std::vector<Decision> script_;
  std::size_t cursor_ = 0;
};

// The draws of one sequence in one step: makes the keys, logs the decisions, and refuses
// (PluginError) noise put to a use that would bias the output:
// - TARGET noise in a drafter; GUMBEL noise in a drafter for a node declared ROW;
// - TARGET or GUMBEL noise in a rule on anything but p at the node; one key drawn twice by a rule.
class LoggedDraws final : public Draws {
 public:
  struct Origin {
    std::uint64_t seed, request;
    std::int64_t root_position;
    std::uint32_t step;
  };
  LoggedDraws(Oracle& oracle, Origin origin, bool log)
      : Draws(origin.request), oracle_(oracle), at_(origin), log_(log) {}

  void propose_for(const Draft& draft);                    // the draft grows while it is drawn for
  void close_draft(const Draft& draft);                    // as the drafter left it
  void judge(const Draft& draft, std::span<const Row> p);  // p: [m+1]

  void hold_to_laws(const Plugin& who) const;          // PluginError when it misused its noise
  const std::string& fault() const { return fault_; }  // stays, also when a plugin caught the throw
  bool last_by_position() const {
    return last_by_position_;
  }  // the latest draw was TARGET or GUMBEL
  const List<trace::DecisionRecord>& log() const { return decisions_; }
  std::size_t judged_from() const { return judged_from_; }  // where in the log the rule's begin

 private:
  bool do_bernoulli(Node node, double prob) override;
  Token do_categorical(Node node, const Row& row) override;
  Token do_sample(Node node, const Row& row) override;
  Token do_gumbel_argmax(Node node, const Row& row) override;
  Key key(Stream stream, Node node);
  void hold_to_p(Stream stream, Node node, const Row& asked);
  void note(std::uint8_t kind, const Key& key, Node node, double prob, std::uint32_t outcome);
  [[noreturn]] void refuse(const std::string& what, std::int64_t position);

  Oracle& oracle_;
  Origin at_;
  bool log_;
  Phase phase_ = Phase::DRAFT;
  const Draft* draft_ = nullptr;
  std::span<const Row> p_;
  template <class K, class V>
  using Map = std::map<K, V, std::less<>, Recycling<std::pair<const K, V>>>;
  Map<std::pair<Stream, Node>, std::int32_t> counts_;
  List<std::pair<Stream, std::int64_t>> judged_;  // by-position noise the rule has used
  bool last_by_position_ = false;
  std::string fault_;
  List<trace::DecisionRecord> decisions_;
  std::size_t judged_from_ = 0;
};

}  // namespace redline::step
