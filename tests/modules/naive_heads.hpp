// SPDX-License-Identifier: Apache-2.0
// The toy heads as one writes them down: float64, no cache, no batch, no graph. Shares with the
// module what a block of the file means and nothing else.
#pragma once
#include <cmath>
#include <limits>

#include "files/gguf.hpp"
#include "model/architecture.hpp"
#include "modules/heads.hpp"

namespace redline::tests {

using Numbers = std::vector<double>;

class NaiveHead {
 public:
  NaiveHead(const files::Gguf& file, const files::Gguf& target) : file_(file), target_(target) {
    const model::Shape shape = model::shape_of(target);
    vocab = shape.vocab;
    heads_ = file.integer("module.attention.head_count", shape.heads);
    kv_heads_ = file.integer("module.attention.head_count_kv", heads_);
    size_ = file.integer("module.attention.key_length", shape.head_size);
    base_ = file.number("module.rope.freq_base", 10000);
  }
  std::int32_t vocab;

  Numbers embedding(Token token) const { return matrix(target_, "token_embd.weight")[token]; }
  Numbers target_head(const Numbers& x) const {
    return product(matrix(target_, "output.weight"), x);
  }
  Numbers linear(const std::string& name, const Numbers& x) const {
    Numbers out = product(matrix(file_, name + ".weight"), x);
    if (file_.find_tensor(name + ".bias")) out = sum(out, matrix(file_, name + ".bias")[0]);
    return out;
  }
  Numbers norm(const std::string& name, const Numbers& x) const {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
    Numbers out = matrix(file_, name + ".weight")[0];
    for (std::size_t k = 0; k < x.size(); ++k) out[k] *= x[k] * scale;
    return out;
  }
  static Numbers silu(Numbers x) {
    for (double& value : x) value /= 1 + std::exp(-value);
    return x;
  }
  static Numbers sum(Numbers a, const Numbers& b) {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
    return a;
  }
  static Numbers times(Numbers a, const Numbers& b) {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] *= b[k];
    return a;
  }
  static Numbers join(std::initializer_list<Numbers> parts) {
    Numbers out;
    for (const Numbers& part : parts) out.insert(out.end(), part.begin(), part.end());
    return out;
  }
  // Row d of a head is token d + offsets[d]; all others are impossible.
  Numbers mapped(const Numbers& rows, const std::string& ids) const {
    Numbers out(vocab, -std::numeric_limits<double>::infinity());
    const Numbers offsets = matrix(file_, ids)[0];
    for (std::size_t d = 0; d < rows.size(); ++d)
      out[d + static_cast<std::size_t>(offsets[d])] = rows[d];
    return out;
  }

  Numbers rotated(Numbers x, std::int32_t position) const {
    for (std::size_t head = 0; head < x.size(); head += size_)
      for (std::int64_t i = 0; i < size_ / 2; ++i) {
        const double angle = position * std::pow(base_, -2.0 * static_cast<double>(i) / size_);
        double &a = x[head + i], &b = x[head + i + size_ / 2];
        const double first = a * std::cos(angle) - b * std::sin(angle);
        b = a * std::sin(angle) + b * std::cos(angle);
        a = first;
      }
    return x;
  }
  // q, k rotated already.
  Numbers attend(const Numbers& q, const std::vector<Numbers>& k,
                 const std::vector<Numbers>& v) const {
    Numbers out(q.size());
    for (std::int64_t head = 0; head < heads_; ++head) {
      const std::int64_t kv = head / (heads_ / kv_heads_) * size_;
      Numbers weights;
      double total = 0;
      for (const Numbers& key : k) {
        double dot = 0;
        for (std::int64_t e = 0; e < size_; ++e) dot += q[head * size_ + e] * key[kv + e];
        weights.push_back(std::exp(dot / std::sqrt(static_cast<double>(size_))));
        total += weights.back();
      }
      for (std::size_t t = 0; t < k.size(); ++t)
        for (std::int64_t e = 0; e < size_; ++e)
          out[head * size_ + e] += weights[t] / total * v[t][kv + e];
    }
    return out;
  }

 private:
  static std::vector<Numbers> matrix(const files::Gguf& file, const std::string& name) {
    const files::Tensor& tensor = file.tensor(name);
    const kernels::WeightType type = model::weight_type(tensor.type);
    const std::int64_t stride = kernels::file_row_bytes(type, tensor.cols());
    std::vector<Numbers> rows;
    std::vector<float> values(tensor.cols());
    for (std::int64_t row = 0; row < tensor.rows(); ++row) {
      kernels::dequantize_row(type, tensor.bytes.data() + row * stride, tensor.cols(),
                              values.data());
      rows.emplace_back(values.begin(), values.end());
    }
    return rows;
  }
  static Numbers product(const std::vector<Numbers>& w, const Numbers& x) {
    Numbers out;
    for (const Numbers& row : w) {
      out.push_back(0);
      for (std::size_t k = 0; k < x.size(); ++k) out.back() += row[k] * x[k];
    }
    return out;
  }

  const files::Gguf &file_, &target_;
  std::int64_t heads_, kv_heads_, size_;
  double base_;
};

// taps[t]: the target's states at position t, each tap behind the other.
using Taps = std::vector<Numbers>;

inline std::vector<Numbers> naive_medusa(const NaiveHead& n, const Taps& taps) {
  std::vector<Numbers> rows;
  for (int i = 0; i < kMedusaHeads; ++i) {
    const std::string at = std::to_string(i);
    const Numbers& x = taps.back();
    rows.push_back(n.linear(at + ".1", n.sum(x, n.silu(n.linear(at + ".0.linear", x)))));
  }
  return rows;
}

// The row after each of the tokens; the first taps.size() + 1 of them are committed.
inline std::vector<Numbers> naive_eagle(const NaiveHead& n, std::span<const Token> tokens,
                                        const Taps& taps) {
  std::vector<Numbers> k, v, rows;
  Numbers feature;
  const std::string at = "midlayer.";
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const std::size_t width = n.embedding(0).size();
    const Numbers before = t == 0 ? Numbers(3 * width) : t <= taps.size() ? taps[t - 1] : Numbers();
    const Numbers h = before.empty() ? feature : n.linear("fc", before);
    const Numbers x = n.join(
        {n.norm(at + "input_layernorm", n.embedding(tokens[t])), n.norm(at + "hidden_norm", h)});
    const auto position = static_cast<std::int32_t>(t);
    k.push_back(n.rotated(n.linear(at + "self_attn.k_proj", x), position));
    v.push_back(n.linear(at + "self_attn.v_proj", x));
    const Numbers q = n.rotated(n.linear(at + "self_attn.q_proj", x), position);
    const Numbers a = n.sum(h, n.linear(at + "self_attn.o_proj", n.attend(q, k, v)));
    const Numbers y = n.norm(at + "post_attention_layernorm", a);
    feature =
        n.sum(a, n.linear(at + "mlp.down_proj", n.times(n.silu(n.linear(at + "mlp.gate_proj", y)),
                                                        n.linear(at + "mlp.up_proj", y))));
    rows.push_back(n.mapped(n.linear("lm_head", n.norm("norm", feature)), "d2t"));
  }
  return rows;
}

// The row of each token of the block, whose first is the root at position taps.size().
inline std::vector<Numbers> naive_flash(const NaiveHead& n, std::span<const Token> block,
                                        const Taps& taps) {
  std::vector<Numbers> x;
  for (const Token token : block) x.push_back(n.embedding(token));
  for (int layer = 0; layer < kFlashLayers; ++layer) {
    const std::string at = "layers." + std::to_string(layer) + ".";
    std::vector<Numbers> k, v, q;
    const auto see = [&](const Numbers& from) {
      k.push_back(n.rotated(n.linear(at + "k_proj", from), static_cast<std::int32_t>(k.size())));
      v.push_back(n.linear(at + "v_proj", from));
    };
    for (const Numbers& states : taps) see(n.norm("hidden_norm", n.linear("fc", states)));
    for (const Numbers& row : x) {
      const Numbers normed = n.norm(at + "input_layernorm", row);
      q.push_back(n.rotated(n.linear(at + "q_proj", normed), static_cast<std::int32_t>(k.size())));
      see(normed);
    }
    for (std::size_t b = 0; b < x.size(); ++b) {
      x[b] = n.sum(x[b], n.linear(at + "o_proj", n.attend(q[b], k, v)));
      const Numbers y = n.norm(at + "post_attention_layernorm", x[b]);
      x[b] = n.sum(x[b], n.linear(at + "down_proj", n.times(n.silu(n.linear(at + "gate_proj", y)),
                                                            n.linear(at + "up_proj", y))));
    }
  }
  std::vector<Numbers> rows;
  for (const Numbers& row : x) rows.push_back(n.target_head(n.norm("norm", row)));
  return rows;
}

}  // namespace redline::tests
