// SPDX-License-Identifier: Apache-2.0
// A forward as one writes it down: float64, the dequantised weights, no cache, no batch. Shares
// with the decoder what a block of the file means and nothing else.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "files/gguf.hpp"
#include "redline/kernels/weights.hpp"
#include "redline/types.hpp"

namespace redline::model {

class NaiveForward {
 public:
  using Vector = std::vector<double>;
  explicit NaiveForward(const files::Gguf& file) : file_(file) {
    architecture_ = file.text("general.architecture");
    heads_ = integer("attention.head_count");
    kv_heads_ = integer("attention.head_count_kv");
    size_ = integer("embedding_length") / heads_;
  }

  // One position after another: logits [positions][V].
  std::vector<Vector> logits(const std::vector<Token>& ids) const {
    std::vector<Vector> xs;
    const auto embedding = matrix("token_embd.weight");
    for (const Token id : ids) xs.push_back(embedding[id]);
    for (std::int64_t layer = 0; layer < integer("block_count"); ++layer) {
      const std::string at = "blk." + std::to_string(layer) + ".";
      attend(at, xs);
      feed(at, xs);
    }
    std::vector<Vector> found;
    const auto head =
        matrix(file_.find_tensor("output.weight") ? "output.weight" : "token_embd.weight");
    for (const Vector& x : xs) found.push_back(product(head, norm(x, "output_norm.weight")));
    return found;
  }

 private:
  using Matrix = std::vector<Vector>;  // [outputs][inputs]

  std::int64_t integer(const std::string& key) const {
    return file_.integer(architecture_ + "." + key);
  }
  double number(const std::string& key, double fallback) const {
    return file_.number(architecture_ + "." + key, fallback);
  }

  Matrix matrix(const std::string& name) const {
    static constexpr struct {
      files::TensorType file;
      kernels::WeightType kernel;
    } kTypes[] = {{files::TensorType::F32, kernels::WeightType::F32},
                  {files::TensorType::F16, kernels::WeightType::F16},
                  {files::TensorType::BF16, kernels::WeightType::BF16},
                  {files::TensorType::Q4_0, kernels::WeightType::Q4_0},
                  {files::TensorType::Q4_1, kernels::WeightType::Q4_1},
                  {files::TensorType::Q5_0, kernels::WeightType::Q5_0},
                  {files::TensorType::Q8_0, kernels::WeightType::Q8_0},
                  {files::TensorType::Q4_K, kernels::WeightType::Q4_K},
                  {files::TensorType::Q5_K, kernels::WeightType::Q5_K},
                  {files::TensorType::Q6_K, kernels::WeightType::Q6_K}};
    const files::Tensor& tensor = file_.tensor(name);
    kernels::WeightType type{};
    for (const auto& pair : kTypes)
      if (pair.file == tensor.type) type = pair.kernel;
    Matrix rows;
    std::vector<float> values(tensor.cols());
    const std::int64_t stride = kernels::file_row_bytes(type, tensor.cols());
    for (std::int64_t row = 0; row < tensor.rows(); ++row) {
      kernels::dequantize_row(type, tensor.bytes.data() + row * stride, tensor.cols(),
                              values.data());
      rows.emplace_back(values.begin(), values.end());
    }
    return rows;
  }

  static Vector product(const Matrix& w, const Vector& x) {
    Vector out;
    for (const Vector& row : w) {
      double sum = 0;
      for (std::size_t k = 0; k < x.size(); ++k) sum += row[k] * x[k];
      out.push_back(sum);
    }
    return out;
  }

  std::vector<Vector> linear(const std::string& name, const std::vector<Vector>& xs) const {
    const Matrix w = matrix(name + ".weight");
    const bool biased = file_.find_tensor(name + ".bias");
    const Vector bias = biased ? matrix(name + ".bias")[0] : Vector(w.size());
    std::vector<Vector> out;
    for (const Vector& x : xs) {
      out.push_back(product(w, x));
      for (std::size_t n = 0; n < bias.size(); ++n) out.back()[n] += bias[n];
    }
    return out;
  }

  Vector norm(const Vector& x, const std::string& name) const {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale =
        1 / std::sqrt(squares / x.size() + number("attention.layer_norm_rms_epsilon", 0));
    const Vector weight = matrix(name)[0];
    Vector out;
    for (std::size_t k = 0; k < x.size(); ++k) out.push_back(x[k] * scale * weight[k]);
    return out;
  }
  std::vector<Vector> norms(const std::vector<Vector>& xs, const std::string& name) const {
    std::vector<Vector> out;
    for (const Vector& x : xs) out.push_back(norm(x, name));
    return out;
  }

  void rotate(Vector& x, std::size_t position) const {
    const bool is_adjacent = architecture_ == "llama";
    const bool has_divisors = file_.find_tensor("rope_freqs.weight");
    const Vector divisors = has_divisors ? matrix("rope_freqs.weight")[0] : Vector(size_ / 2, 1);
    for (std::size_t head = 0; head < x.size(); head += size_)
      for (std::int64_t i = 0; i < size_ / 2; ++i) {
        const double frequency = std::pow(number("rope.freq_base", 10000), -2.0 * i / size_) /
                                 divisors[i] / number("rope.scaling.factor", 1);
        const double c = std::cos(position * frequency), s = std::sin(position * frequency);
        double& a = x[head + (is_adjacent ? 2 * i : i)];
        double& b = x[head + (is_adjacent ? 2 * i + 1 : i + size_ / 2)];
        const double first = a * c - b * s;
        b = a * s + b * c;
        a = first;
      }
  }

  Vector mix(const std::vector<Vector>& k, const std::vector<Vector>& v, const Vector& q,
             std::size_t count) const {
    Vector out(q.size());
    for (std::int64_t head = 0; head < heads_; ++head) {
      const std::int64_t kv = head / (heads_ / kv_heads_) * size_;
      Vector weights;
      double sum = 0;
      for (std::size_t t = 0; t < count; ++t) {
        double dot = 0;
        for (std::int64_t e = 0; e < size_; ++e) dot += q[head * size_ + e] * k[t][kv + e];
        weights.push_back(std::exp(dot / std::sqrt(double(size_))));
        sum += weights.back();
      }
      for (std::size_t t = 0; t < count; ++t)
        for (std::int64_t e = 0; e < size_; ++e)
          out[head * size_ + e] += weights[t] / sum * v[t][kv + e];
    }
    return out;
  }

  static void add(std::vector<Vector>& xs, const std::vector<Vector>& deltas) {
    for (std::size_t t = 0; t < xs.size(); ++t)
      for (std::size_t k = 0; k < xs[t].size(); ++k) xs[t][k] += deltas[t][k];
  }

  void attend(const std::string& at, std::vector<Vector>& xs) const {
    const auto normed = norms(xs, at + "attn_norm.weight");
    auto q = linear(at + "attn_q", normed), k = linear(at + "attn_k", normed);
    const auto v = linear(at + "attn_v", normed);
    std::vector<Vector> mixed;
    for (std::size_t t = 0; t < xs.size(); ++t) {
      rotate(q[t], t), rotate(k[t], t);
      mixed.push_back(mix(k, v, q[t], t + 1));
    }
    add(xs, linear(at + "attn_output", mixed));
  }

  void feed(const std::string& at, std::vector<Vector>& xs) const {
    const auto normed = norms(xs, at + "ffn_norm.weight");
    auto gate = linear(at + "ffn_gate", normed);
    const auto up = linear(at + "ffn_up", normed);
    for (std::size_t t = 0; t < gate.size(); ++t)
      for (std::size_t n = 0; n < gate[t].size(); ++n)
        gate[t][n] = gate[t][n] / (1 + std::exp(-gate[t][n])) * up[t][n];
    add(xs, linear(at + "ffn_down", gate));
  }

  const files::Gguf& file_;
  std::string architecture_;
  std::int64_t heads_, kv_heads_, size_;
};

}  // namespace redline::model
