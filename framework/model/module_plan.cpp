// SPDX-License-Identifier: Apache-2.0
#include "model/module_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "redline/error.hpp"

namespace redline::model {
namespace {

std::string shape_text(const files::Tensor& tensor) {
  return std::string("[").append(std::to_string(tensor.cols())) + ", " +
         std::to_string(tensor.rows()) + "]";
}

// What rows a value makes sense for: hidden() has no nodes, recycled() no committed tokens.
struct Lack {
  bool drafted = false, committed = false;
  Lack operator|(Lack other) const {
    return {drafted || other.drafted, committed || other.committed};
  }
};

class Checker {
 public:
  Checker(const files::Gguf& file, const ModuleGraph& graph, const Architecture& target,
          std::int32_t taps)
      : file_(file), target_(target), taps_(taps) {
    plan_.nodes = graph.nodes;
    plan_.vocab = target.shape.vocab;
    read_keys();
    feature_width_ = dimension("module.feature_length", target.shape.hidden);
    for (const ModuleNode& node : graph.nodes) plan_.feeding.is_block |= node.op == Op::BLOCK;
  }

  ModulePlan run() {
    plan_.feeding.heads = 0;
    plan_.feeding.drops_drafts = true;
    for (at_ = 0; at_ < plan_.nodes.size(); ++at_) {
      const ModuleNode& node = plan_.nodes[at_];
      Lack lack;
      for (const std::int32_t input : node.inputs) {
        if (input < 0 || input >= static_cast<std::int32_t>(at_) || plan_.widths[input] == 0)
          refuse("takes op " + std::to_string(input) + ", which gives it no value");
        lack = lack | lacks_[input];
      }
      plan_.ordinals.push_back(0);
      lacks_.push_back(lack);
      plan_.widths.push_back(width_of(node));
    }
    if (plan_.feeding.heads == 0)
      throw InputError(file_.path().string() + ": the module has no head(): it answers nothing");
    if (plan_.feeding.is_level_by_level && plan_.feature == 0)
      throw InputError(file_.path().string() +
                       ": the module takes recycled() but keeps no "
                       "feature()");
    return plan_;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    const ModuleNode& node = plan_.nodes[at_];
    throw InputError(file_.path().string() + ": module op " + std::to_string(at_) + ", " +
                     std::string(name(node.op)) + "(" + node.weight + "): " + why);
  }

  std::int32_t dimension(const char* key, std::int64_t fallback) const {
    const std::int64_t value = file_.integer(key, fallback);
    if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
      throw InputError(file_.path().string() + ": " + key + " is " + std::to_string(value));
    return static_cast<std::int32_t>(value);
  }
  double positive(const char* key, double fallback) const {
    const double value = file_.number(key, fallback);
    if (!(value > 0) || !std::isfinite(value))
      throw InputError(file_.path().string() + ": " + key + " is " + std::to_string(value) +
                       ", expected a positive number");
    return value;
  }
  void read_keys() {
    plan_.epsilon =
        static_cast<float>(positive("module.attention.layer_norm_rms_epsilon", target_.epsilon));
    plan_.rope_base = positive("module.rope.freq_base", target_.rope_base);
    plan_.heads = dimension("module.attention.head_count", target_.shape.heads);
    plan_.kv_heads = dimension("module.attention.head_count_kv", plan_.heads);
    plan_.head_size = dimension("module.attention.key_length", target_.shape.head_size);
  }

  std::int64_t width_of(const ModuleNode& node) {
    const std::int64_t hidden = target_.shape.hidden;
    switch (node.op) {
      case Op::EMBED:
        inputs(0);
        return hidden;
      case Op::HIDDEN:
        return check_hidden(node);
      case Op::RECYCLED:
        inputs(0);
        if (plan_.feeding.is_block) refuse("in a block, whose rows are computed all at once");
        lacks_[at_].committed = plan_.feeding.is_level_by_level = true;
        return feature_width_;
      case Op::CHOOSE:
        inputs(2);
        lacks_[at_] = {lacks_[node.inputs[1]].drafted, lacks_[node.inputs[0]].committed};
        return equal_widths();
      case Op::LINEAR:
        inputs(1);
        return check_matrix();
      case Op::NORM:
        inputs(1);
        check_vector(weight_name(node), input_width(0), true);
        return input_width(0);
      case Op::SILU:
        inputs(1);
        return input_width(0);
      case Op::ADD:
      case Op::MULTIPLY:
        inputs(2);
        return equal_widths();
      case Op::CONCAT:
        return concat_width();
      case Op::ATTENTION:
        return check_attention();
      case Op::FEATURE:
        return check_feature();
      case Op::HEAD:
        return check_head(node);
      case Op::BLOCK:
        inputs(0);
        return 0;
    }
    refuse("is unknown");
  }

  void inputs(std::size_t count) const {
    const std::size_t given = plan_.nodes[at_].inputs.size();
    if (given != count)
      refuse("takes " + std::to_string(count) + " values, got " + std::to_string(given));
  }
  std::int64_t input_width(int k) const { return plan_.widths[plan_.nodes[at_].inputs[k]]; }

  std::int64_t equal_widths() const {
    if (input_width(0) != input_width(1))
      refuse("takes two values of one width, got " + std::to_string(input_width(0)) + " and " +
             std::to_string(input_width(1)));
    return input_width(0);
  }
  std::int64_t concat_width() const {
    if (plan_.nodes[at_].inputs.empty()) refuse("takes at least one value");
    std::int64_t width = 0;
    for (const std::int32_t input : plan_.nodes[at_].inputs) width += plan_.widths[input];
    return width;
  }

  std::int64_t check_hidden(const ModuleNode& node) {
    inputs(0);
    if (node.tap < 0 || node.tap >= taps_)
      refuse("tap " + std::to_string(node.tap) + " asked for, the drafter's contract declares " +
             std::to_string(taps_) + "; declare it in needs.taps");
    lacks_[at_].drafted = plan_.feeding.takes_features = true;
    return target_.shape.hidden;
  }

  // Where rows end up: in pages or in an answer. Every row that comes here must be one that has all
  // it takes.
  void check_rows() {
    const Lack lack = lacks_[at_];
    if (lack.committed)
      refuse("rests on recycled(), which committed tokens lack; put choose() between");
    if (!lack.drafted) return;
    if (plan_.feeding.is_block)
      refuse("rests on hidden(), which the rows of a block lack; put choose() between");
    plan_.feeding.is_root_only = true;
  }

  const files::Tensor& tensor(const std::string& name) const {
    const files::Tensor* found = file_.find_tensor(name);
    if (!found) refuse("the file has no tensor " + name);
    return *found;
  }
  void check_vector(const std::string& name, std::int64_t width, bool is_required) const {
    if (!is_required && !file_.find_tensor(name)) return;
    const files::Tensor& found = tensor(name);
    if (found.cols() != width || found.rows() != 1)
      refuse("tensor " + name + " is " + shape_text(found) + ", expected [" +
             std::to_string(width) + "]");
  }
  std::int64_t check_matrix() const {
    const ModuleNode& node = plan_.nodes[at_];
    const files::Tensor& found = tensor(weight_name(node));
    const std::int64_t divisor =
        std::max<std::int64_t>(32, kernels::block_weights(weight_type(found.type)));
    if (found.shape.size() != 2 || found.cols() != input_width(0))
      refuse("tensor " + found.name + " is " + shape_text(found) + ", its input has width " +
             std::to_string(input_width(0)));
    if (found.cols() % divisor != 0)
      refuse("tensor " + found.name + " has rows of " + std::to_string(found.cols()) +
             " weights, expected a multiple of " + std::to_string(divisor));
    check_vector(bias_name(node), found.rows(), false);
    return found.rows();
  }

  std::int64_t check_attention() {
    inputs(3);
    if (plan_.kv_heads < 1 || plan_.heads < 1 || plan_.heads % plan_.kv_heads != 0 ||
        plan_.head_size < 16 || plan_.head_size % 16 != 0)
      refuse(std::to_string(plan_.heads) + " heads, " + std::to_string(plan_.kv_heads) +
             " kv heads of size " + std::to_string(plan_.head_size) +
             " do not fit together; see module.attention.* of the file");
    const std::int64_t q = std::int64_t{plan_.heads} * plan_.head_size;
    const std::int64_t kv = std::int64_t{plan_.kv_heads} * plan_.head_size;
    if (input_width(0) != q || input_width(1) != kv || input_width(2) != kv)
      refuse("q, k and v have widths " + std::to_string(input_width(0)) + ", " +
             std::to_string(input_width(1)) + " and " + std::to_string(input_width(2)) +
             ", the heads need " + std::to_string(q) + ", " + std::to_string(kv) + " and " +
             std::to_string(kv));
    const auto& in = plan_.nodes[at_].inputs;
    plan_.ordinals[at_] = plan_.layers++;
    // K and V are kept for all rows; what Q lacks only the rows that ask lack.
    const Lack all = lacks_[at_];
    lacks_[at_] = lacks_[in[1]] | lacks_[in[2]];
    check_rows();
    lacks_[at_] = all;
    return q;
  }

  std::int64_t check_feature() {
    inputs(1);
    if (plan_.feature != 0) refuse("a second feature(); a row keeps one");
    if (input_width(0) != feature_width_)
      refuse("of width " + std::to_string(input_width(0)) + ", module.feature_length is " +
             std::to_string(feature_width_));
    check_rows();
    plan_.feature = static_cast<std::int32_t>(feature_width_);
    return 0;
  }

  std::int64_t check_head(const ModuleNode& node) {
    inputs(1);
    check_rows();
    plan_.ordinals[at_] = plan_.feeding.heads++;
    if (node.weight.empty()) {
      if (input_width(0) != target_.shape.hidden || !node.ids.empty())
        refuse("the target's own takes width " + std::to_string(target_.shape.hidden) +
               " and no ids, got " + std::to_string(input_width(0)) + " and '" + node.ids + "'");
      return 0;
    }
    const std::int64_t rows = check_matrix();
    if (node.ids.empty() && rows != plan_.vocab)
      refuse("has " + std::to_string(rows) + " rows, the target knows " +
             std::to_string(plan_.vocab) + " tokens; name the ids of its rows");
    if (!node.ids.empty()) {
      check_vector(node.ids, rows, true);
      plan_.mapped = std::max(plan_.mapped, rows);
    }
    return 0;
  }

  const files::Gguf& file_;
  const Architecture& target_;
  std::int32_t taps_;
  std::int64_t feature_width_;
  ModulePlan plan_;
  std::vector<Lack> lacks_;  // [nodes]
  std::size_t at_ = 0;
};

}  // namespace

ModulePlan module_plan(const files::Gguf& file, const ModuleGraph& graph,
                       const Architecture& target, std::int32_t taps) {
  ModulePlan plan = Checker(file, graph, target, taps).run();
  if (plan.layers == 0) plan.heads = plan.kv_heads = plan.head_size = 0;
  return plan;
}

}  // namespace redline::model
