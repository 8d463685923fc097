// SPDX-License-Identifier: Apache-2.0
// Temperature, top-k, top-p, min-p: one link each, run in this order wherever the config names
// them.
#include "redline/plugin.hpp"

namespace {

using redline::Logits, redline::Slot;

struct Nothing {};  // these links remember nothing

class Temperature final : public redline::SamplerOf<Nothing>, public redline::AnyThread {
 public:
  struct Params {
    double t = 1;
    void visit(redline::ParameterVisitor& v) {
      v("t", t, {0, 100}, "divides the logits; 0 keeps the best token alone (greedy)");
    }
  };
  explicit Temperature(const Params& p) : t_(p.t) {
    if (t_ > 0 && t_ < 1e-3)
      throw redline::InputError("t = " + std::to_string(t_) +
                                " leaves float32's range; 0 is greedy, else use 0.001 or more");
  }

 private:
  Slot do_slot() const override { return Slot::TEMPERATURE; }
  void edit(const Nothing&, Logits& row) const override {
    if (t_ == 0) return row.keep_argmax();
    if (t_ != 1) row.scale(static_cast<float>(1 / t_));
  }
  double t_;
};

class TopK final : public redline::SamplerOf<Nothing>, public redline::AnyThread {
 public:
  struct Params {
    int k = 0;
    void visit(redline::ParameterVisitor& v) {
      v("k", k, {0, 1e6}, "keeps the k best tokens; 0 keeps all");
    }
  };
  explicit TopK(const Params& p) : k_(p.k) {}

 private:
  Slot do_slot() const override { return Slot::TOP_K; }
  void edit(const Nothing&, Logits& row) const override {
    if (k_ > 0) row.keep_top(k_);
  }
  int k_;
};

class TopP final : public redline::SamplerOf<Nothing>, public redline::AnyThread {
 public:
  struct Params {
    double p = 1;
    void visit(redline::ParameterVisitor& v) {
      v("p", p, {0, 1}, "keeps the fewest best tokens that hold this much probability");
    }
  };
  explicit TopP(const Params& p) : p_(p.p) {}

 private:
  Slot do_slot() const override { return Slot::TOP_P; }
  void edit(const Nothing&, Logits& row) const override { row.keep_top_p(p_); }
  double p_;
};

class MinP final : public redline::SamplerOf<Nothing>, public redline::AnyThread {
 public:
  struct Params {
    double p = 0;
    void visit(redline::ParameterVisitor& v) {
      v("p", p, {0, 1}, "keeps tokens at least this share as probable as the best; 0 keeps all");
    }
  };
  explicit MinP(const Params& p) : p_(p.p) {}

 private:
  Slot do_slot() const override { return Slot::MIN_P; }
  void edit(const Nothing&, Logits& row) const override {
    if (p_ > 0) row.keep_min_p(p_);
  }
  double p_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Temperature>("sample_temperature", "temperature; 0 is greedy"),
               redline::entry<TopK>("sample_top_k", "the k best tokens"),
               redline::entry<TopP>("sample_top_p", "the best tokens holding p (nucleus)"),
               redline::entry<MinP>("sample_min_p", "tokens not far below the best"));
