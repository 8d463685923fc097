// SPDX-License-Identifier: Apache-2.0
// A learned head's graph, recorded once from engine ops; every rank runs it. A row is a committed
// token, the root included, or a node of a draft, also a scratch one. docs/modules.md: what each of
// them has, the weights file, whole heads.
#pragma once
#include <initializer_list>
#include <span>

#include "redline/types.hpp"

namespace redline {
inline namespace v1 {

struct Value {  // [rows, width]
  int index;
};
enum class Op : std::uint8_t {
  EMBED,
  HIDDEN,
  RECYCLED,
  CHOOSE,
  LINEAR,
  NORM,
  SILU,
  ADD,
  MULTIPLY,
  CONCAT,
  ATTENTION,
  FEATURE,
  HEAD,
  BLOCK,
};

// A weight's name is that of its tensors in the file without .weight and .bias.
class REDLINE_API ModuleBuilder {  // [before start]
 public:
  virtual ~ModuleBuilder();
  Value embed() { return op(Op::EMBED, {}); }  // the target's embedding of the row's token
  // The n-th tap that the drafter's contract declares, of the token before the row's: what the
  // target knew when the row's token was chosen. Zeros before the first token. Nodes have none.
  Value hidden(int n) { return op(Op::HIDDEN, {}, {}, n); }
  Value recycled() { return op(Op::RECYCLED, {}); }  // feature of the row's parent; nodes only
  // The one for committed tokens, the other for nodes.
  Value choose(Value committed, Value drafted) { return op(Op::CHOOSE, {committed, drafted}); }
  Value linear(std::string_view w, Value x) { return op(Op::LINEAR, {x}, w); }
  Value norm(std::string_view w, Value x) { return op(Op::NORM, {x}, w); }  // root mean square
  Value silu(Value x) { return op(Op::SILU, {x}); }
  Value add(Value a, Value b) { return op(Op::ADD, {a, b}); }
  Value multiply(Value a, Value b) { return op(Op::MULTIPLY, {a, b}); }
  Value concat(std::initializer_list<Value> xs) { return op(Op::CONCAT, xs); }
  // Rotary, over the committed tokens and the row's own path; K and V go to the module's pages.
  Value attention(Value q, Value k, Value v) { return op(Op::ATTENTION, {q, k, v}); }
  void feature(Value x) { op(Op::FEATURE, {x}); }  // what recycled() gives the row's children
  // Each head gives every ask a row: all of the first ask, then all of the second. ids: a tensor of
  // offsets; the head's row d is token d + ids[d] of the target, tokens that no row has get -inf.
  void head(std::string_view w, Value x, std::string_view ids = {}) {
    op(Op::HEAD, {x}, w, 0, ids);
  }
  void head(Value x) { op(Op::HEAD, {x}); }  // the target's own
  // Said once: the root and the nodes of an asked draft, a chain of mask tokens say, are one block.
  // They see each other both ways and the root counts as a node; hidden() is of the row's own
  // token: K and V chosen between both are injected for what is committed. A block lives for one
  // forward.
  void block() { op(Op::BLOCK, {}); }

 private:
  Value op(Op o, std::initializer_list<Value> in, std::string_view w = {}, int n = 0,
           std::string_view ids = {}) {
    return do_op(o, {in.begin(), in.size()}, w, n, ids);
  }
  virtual Value do_op(Op, std::span<const Value> in, std::string_view weight, int tap,
                      std::string_view ids) = 0;
};

}  // namespace v1
}  // namespace redline
