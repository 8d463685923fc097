// SPDX-License-Identifier: Apache-2.0
// The public, non-virtual half of each kind: check what goes in and comes out, and name plugin,
// method and sequence when a hook throws.
#include <exception>
#include <limits>

#include "redline/plugin.hpp"

namespace redline {
inline namespace v1 {
namespace {

constexpr double kSlack = 1e-6;  // rounding, of sums over a vocabulary

// Runs a hook of `who`. `where` says for which sequences; built only when something was thrown.
template <class F, class W>
decltype(auto) guarded(const Plugin& who, const char* method, W&& where, F&& hook) {
  try {
    return hook();
  } catch (const DeviceError&) {
    throw;  // the machine's fault, met inside a hook
  } catch (const std::exception& cause) {
    std::throw_with_nested(PluginError(who.name() + "." + method + where() + ": " + cause.what()));
  } catch (...) {
    throw PluginError(who.name() + "." + method + where() +
                      ": threw something that is no exception");
  }
}

std::string of(std::uint64_t id) { return ", sequence " + std::to_string(id); }
template <class Batch, class F>
std::string of_each(const Batch& batch, F&& id) {
  if (batch.empty()) return "";
  std::string out = of(id(batch.front()));
  return batch.size() == 1 ? out : out + " and " + std::to_string(batch.size() - 1) + " more";
}
std::uint64_t id_of(const Turn& t) { return t.sequence.id; }
std::uint64_t id_of(const Outcome& o) { return o.turn.sequence.id; }
std::uint64_t id_of(const Proposal& p) { return p.sequence().id; }
template <class T>
auto each(std::span<T> batch) {
  return [batch] { return of_each(batch, [](const auto& item) { return id_of(item); }); };
}
auto one(std::uint64_t id) {
  return [id] { return of(id); };
}

void check_rows(const Draft& draft, std::span<const Row> p) {
  if (p.size() != static_cast<std::size_t>(draft.size()) + 1)
    throw Error("got " + std::to_string(p.size()) + " rows for " + std::to_string(draft.size()) +
                " nodes; needs one a node and the root's");
}

}  // namespace

bool Draws::bernoulli(Node n, double prob) {
  if (!(prob >= 0 && prob <= 1))
    throw Error("bernoulli: probability " + std::to_string(prob) + " at node " + std::to_string(n) +
                "; must be from 0 to 1");
  return do_bernoulli(n, prob);
}
Token Draws::categorical(Node n, const Row& row) { return do_categorical(n, row); }
Token Draws::sample(Node n, const Row& row) { return do_sample(n, row); }
Token Draws::gumbel_argmax(Node n, const Row& row) { return do_gumbel_argmax(n, row); }

std::unique_ptr<State> DraftLength::begin(const Sequence& s) {
  return guarded(*this, "begin", one(s.id), [&] { return do_begin(s); });
}
List<Budget> DraftLength::choose(std::span<const Turn> batch) {
  List<Budget> out(batch.size());
  guarded(*this, "choose", each(batch), [&] {
    do_choose(batch, out);
    for (const Budget& b : out)
      if (b.max_nodes < 0 || b.max_depth < 0)
        throw Error("budget of " + std::to_string(b.max_nodes) + " nodes, depth " +
                    std::to_string(b.max_depth) + "; neither may be negative");
  });
  return out;
}
bool DraftLength::proceed(Turn turn, int depth, const Row& q_next) const {
  return guarded(*this, "proceed", one(id_of(turn)),
                 [&] { return do_proceed(turn, depth, q_next); });
}
void DraftLength::observe(std::span<const Outcome> batch) {
  guarded(*this, "observe", each(batch), [&] { do_observe(batch); });
}

std::unique_ptr<State> Drafter::begin(const Sequence& s) {
  return guarded(*this, "begin", one(s.id), [&] { return do_begin(s); });
}
void Drafter::propose(std::span<Proposal> batch) {
  guarded(*this, "propose", each(batch), [&] { do_propose(batch); });
}
void Drafter::observe(std::span<const Outcome> batch) {
  guarded(*this, "observe", each(batch), [&] { do_observe(batch); });
}

Verdict AcceptanceRule::judge(const Draft& draft, std::span<const Row> p, Draws& draws) const {
  return guarded(*this, "judge", one(draws.sequence()), [&] {
    check_rows(draft, p);
    if (contract().shape == Shape::CHAIN && !draft.is_chain())
      throw Error("takes chains only; this draft is a tree");
    const Verdict v = do_judge(draft, p, draws);
    if (v.keep < 0 || v.keep > draft.size())
      throw Error("verdict keeps node " + std::to_string(v.keep) + "; the draft has " +
                  std::to_string(draft.size()));
    if (v.next < 0 || v.next >= p[0].vocab())
      throw Error("verdict's next token " + std::to_string(v.next) +
                  " is not below V = " + std::to_string(p[0].vocab()));
    return v;
  });
}
double AcceptanceRule::expected_accepted(const Draft& draft, std::span<const Row> p) const {
  return guarded(
      *this, "expected_accepted", [] { return std::string(); },
      [&] {
        check_rows(draft, p);
        return do_expected_accepted(draft, p);
      });
}
double AcceptanceRule::do_expected_accepted(const Draft&, std::span<const Row>) const {
  return std::numeric_limits<double>::quiet_NaN();
}
double AcceptanceRule::tv(const Draft& draft, Node u, std::span<const Row> p) const {
  return guarded(
      *this, "tv", [] { return std::string(); },
      [&] {
        check_rows(draft, p);
        const double tv = do_tv(draft, u, p);
        if (tv < -kSlack || tv > 1 + kSlack)
          throw Error("a total variation of " + std::to_string(tv) + "; must be from 0 to 1");
        return tv;
      });
}
double AcceptanceRule::do_tv(const Draft&, Node, std::span<const Row>) const {
  return std::numeric_limits<double>::quiet_NaN();
}
double path_mass(const Draft& draft, std::span<const Row> p) {
  List<double> reach(p.size(), 1.0);
  double sum = 0;
  for (Node n = 1; n <= draft.size(); ++n) {
    const Node up = draft.parent(n);
    const bool is_twin =
        draft.child(up, draft.token(n)) != n;  // i.i.d. siblings may repeat a token
    reach[n] = is_twin ? 0 : reach[up] * p[up].at(draft.token(n));
    sum += reach[n];
  }
  return sum;
}

std::unique_ptr<Sampler::Memory> Sampler::begin(const Sequence& s) const {
  return guarded(*this, "begin", one(s.id), [&] {
    auto memory = do_begin(s);
    if (!memory) throw Error("gave no memory; derive from SamplerOf");
    return memory;
  });
}
void Sampler::advance(Memory& m, Token t) const {
  guarded(*this, "advance", [] { return std::string(); }, [&] { do_advance(m, t); });
}
void Sampler::apply(const Memory& m, Logits& row) const {
  guarded(
      *this, "apply", [] { return std::string(); },
      [&] {
        row.open_link();
        do_apply(m, row);
        row.close_link();
      });
}

List<Row> Model::forward(std::span<const Ask> asks) {
  for (const Ask& a : asks)
    if (a.node < 0 || a.node > a.draft.size())
      throw Error("forward: node " + std::to_string(a.node) + " is not among the " +
                  std::to_string(a.draft.size()) + " of its draft");
  return asks.empty() ? List<Row>{} : do_forward(asks);
}
Row Model::next(const Proposal& p, Node n) {
  const Ask ask{p.sequence(), p.draft(), n};
  return forward({&ask, 1}).front();
}

}  // namespace v1
}  // namespace redline
