// SPDX-License-Identifier: Apache-2.0
// Three toy heads of published shapes, as a plugin's author writes them: Medusa (2401.10774),
// EAGLE-3 (2503.01840) and DFlash (2602.06036).
#pragma once
#include <string>

#include "redline/module.hpp"
#include "redline/needs.hpp"

namespace redline::tests {

inline constexpr int kMedusaHeads = 3, kFlashLayers = 2;

inline std::vector<Tap> medusa_taps() { return {Tap{}}; }  // the final norm's output
inline std::vector<Tap> eagle_taps() {
  using Point = Tap::Point;
  return {{Point::LAYER_INPUT, 1}, {Point::LAYER_INPUT, 2}, {Point::LAYER_OUTPUT, -1}};
}
inline std::vector<Tap> flash_taps() {
  return {{Tap::Point::LAYER_OUTPUT, 0}, {Tap::Point::LAYER_OUTPUT, 2}};
}

// Residual SiLU blocks on the last state; head i is i + 1 tokens ahead.
inline void build_medusa(ModuleBuilder& m) {
  const Value x = m.hidden(0);
  for (int i = 0; i < kMedusaHeads; ++i) {
    const std::string at = std::to_string(i);
    m.head(at + ".1", m.add(x, m.silu(m.linear(at + ".0.linear", x))));
  }
}

// Three taps and the token's embedding into one layer; a node goes on from its parent's output. The
// head knows some of the tokens only.
inline void build_eagle(ModuleBuilder& m) {
  const auto in = [&](const char* name, Value x) {
    return m.linear(std::string("midlayer.") + name, x);
  };
  const Value taps = m.linear("fc", m.concat({m.hidden(0), m.hidden(1), m.hidden(2)}));
  const Value h = m.choose(taps, m.recycled());
  const Value x =
      m.concat({m.norm("midlayer.input_layernorm", m.embed()), m.norm("midlayer.hidden_norm", h)});
  const Value mixed =
      m.attention(in("self_attn.q_proj", x), in("self_attn.k_proj", x), in("self_attn.v_proj", x));
  const Value a = m.add(h, in("self_attn.o_proj", mixed));
  const Value y = m.norm("midlayer.post_attention_layernorm", a);
  const Value gated = m.multiply(m.silu(in("mlp.gate_proj", y)), in("mlp.up_proj", y));
  const Value out = m.add(a, in("mlp.down_proj", gated));
  m.feature(out);
  m.head("lm_head", m.norm("norm", out), "d2t");
}

// A block of the root and mask tokens; the taps of committed tokens are injected as K and V in
// every layer; embedding and head are the target's.
inline void build_flash(ModuleBuilder& m) {
  m.block();
  const Value injected =
      m.norm("hidden_norm", m.linear("fc", m.concat({m.hidden(0), m.hidden(1)})));
  Value x = m.embed();
  for (int layer = 0; layer < kFlashLayers; ++layer) {
    const std::string at = "layers." + std::to_string(layer) + ".";
    const Value normed = m.norm(at + "input_layernorm", x);
    const Value keys = m.choose(injected, normed);
    const Value mixed = m.attention(m.linear(at + "q_proj", normed), m.linear(at + "k_proj", keys),
                                    m.linear(at + "v_proj", keys));
    x = m.add(x, m.linear(at + "o_proj", mixed));
    const Value y = m.norm(at + "post_attention_layernorm", x);
    const Value gated =
        m.multiply(m.silu(m.linear(at + "gate_proj", y)), m.linear(at + "up_proj", y));
    x = m.add(x, m.linear(at + "down_proj", gated));
  }
  m.head(m.norm("norm", x));
}

}  // namespace redline::tests
