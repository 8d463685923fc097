// SPDX-License-Identifier: Apache-2.0
// A learned head's graph, built once a rank from engine ops; running it is the engine's business.
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
};

class REDLINE_API ModuleBuilder {  // [before start], on every rank
 public:
  virtual ~ModuleBuilder();
  Value embed() { return op(Op::EMBED, {}); }                // target embedding of the row's token
  Value hidden(int n) { return op(Op::HIDDEN, {}, {}, n); }  // n-th declared tap, one row earlier
  Value recycled() { return op(Op::RECYCLED, {}); }          // own feature of the row's parent
  Value choose(Value committed, Value drafted) { return op(Op::CHOOSE, {committed, drafted}); }
  Value linear(std::string_view w, Value x) { return op(Op::LINEAR, {x}, w); }
  Value norm(std::string_view w, Value x) { return op(Op::NORM, {x}, w); }
  Value silu(Value x) { return op(Op::SILU, {x}); }
  Value add(Value a, Value b) { return op(Op::ADD, {a, b}); }
  Value multiply(Value a, Value b) { return op(Op::MULTIPLY, {a, b}); }
  Value concat(std::initializer_list<Value> xs) { return op(Op::CONCAT, xs); }
  Value attention(Value q, Value k, Value v) { return op(Op::ATTENTION, {q, k, v}); }  // own pages
  void feature(Value x) { op(Op::FEATURE, {x}); }  // what recycled() returns below
  void head(std::string_view w, Value x, std::string_view ids = {}) {
    op(Op::HEAD, {x}, w, 0, ids);
  }

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
