// SPDX-License-Identifier: Apache-2.0
// The public, non-virtual half of each kind: check, and name the plugin when its hook throws.
#include "redline/plugin.hpp"

namespace redline {
inline namespace v1 {

Error::~Error() = default;
InputError::~InputError() = default;
PluginError::~PluginError() = default;
DeviceError::~DeviceError() = default;
State::~State() = default;
Plugin::~Plugin() = default;
Draws::~Draws() = default;
Model::~Model() = default;
ModuleBuilder::~ModuleBuilder() = default;
Host::~Host() = default;
ParameterVisitor::~ParameterVisitor() = default;
Sampler::Memory::~Memory() = default;

namespace {
template <class F>
decltype(auto) guarded(const Plugin& who, const char* method, F&& hook) {
  try {
    return hook();
  } catch (const std::exception& cause) {
    std::throw_with_nested(Error(who.name() + "." + method + ": " + cause.what()));
  }
}
[[noreturn]] void refuse(const char* what) { throw Error(what); }
}  // namespace

bool Draws::bernoulli(Node n, double prob) {
  if (!(prob >= 0 && prob <= 1))
    throw Error("bernoulli: probability " + std::to_string(prob) + " at node " + std::to_string(n));
  return do_bernoulli(n, prob);
}
Token Draws::categorical(Node n, const Row& row) { return do_categorical(n, row); }
Token Draws::sample(Node n, const Row& row) { return do_sample(n, row); }
Token Draws::gumbel_argmax(Node n, const Row& row) { return do_gumbel_argmax(n, row); }

void Logits::ban(Token t) { set(t, -std::numeric_limits<float>::infinity()); }

std::vector<Budget> DraftLength::choose(std::span<const Turn> batch) {
  std::vector<Budget> out(batch.size());
  guarded(*this, "choose", [&] { do_choose(batch, out); });
  return out;
}
void Drafter::propose(std::span<Proposal> batch) {
  guarded(*this, "propose", [&] { do_propose(batch); });
}
Verdict AcceptanceRule::judge(const Draft& draft, std::span<const Row> p, Draws& draws) const {
  return guarded(*this, "judge", [&] {
    if (p.size() != static_cast<std::size_t>(draft.size()) + 1)
      refuse("p must hold a row per node and the root's");
    if (contract().shape == Shape::CHAIN && !draft.is_chain())
      refuse("takes chains only; this draft is a tree");
    const Verdict v = do_judge(draft, p, draws);
    if (v.keep < 0 || v.keep > draft.size())
      refuse("verdict keeps a node that is not in the draft");
    if (v.next < 0 || v.next >= p[0].vocab()) refuse("verdict's next token is not below V");
    return v;
  });
}

}  // namespace v1
}  // namespace redline
