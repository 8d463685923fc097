// SPDX-License-Identifier: Apache-2.0
// Statistical gates on emitted text: under a lossless strategy every token is drawn from p given
// the text before it, so sums of f(y) - E_p f are martingales and ranks are uniform, whatever the
// strategy drafted. Holds sums alone, so that a run can be saved and gone on with.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "config/value.hpp"
#include "redline/row.hpp"
#include "trace/records.hpp"

namespace redline::check {

// A sum of deviations beside the sum of their variances: known ones, or the deviations' squares.
struct Martingale {
  double samples = 0, sum = 0, variance = 0;
  void add(double deviation, double its_variance);
  void add(double deviation) { add(deviation, deviation * deviation); }
  double z() const;
  config::Value state() const;
  void restore(const config::Value& state);
};

// Numbers that ought to be uniform on [0, 1) and independent.
class Uniforms {
 public:
  void begin() { before_ = -1; }  // the next one follows none
  void add(double u);
  double samples() const { return samples_; }
  double chi_square() const;  // of kBins equal bins
  double distance() const;    // Kolmogorov's, over the cells
  double lag() const;         // z of the correlation of neighbours

  config::Value state() const;
  void restore(const config::Value& state);

  static constexpr int kBins = 64;

 private:
  static constexpr int kCells = 1024;
  std::array<double, kCells> cells_{};
  double samples_ = 0, pairs_ = 0, product_ = 0, before_ = -1;
};

struct Gate {
  std::string name;
  double samples, statistic, p;
  double reach;      // the bias it would have seen, at the family's size and power .99
  std::string unit;  // of the reach
};

class Gates {
 public:
  void begin_text() { ranks_.begin(); }
  // The next token of the text, its law after the request's sampling, a draft model's law there
  // (or null), and a number drawn uniformly for this place.
  void token(Token y, const Row& p, const Row* q, double u);
  // What the rule decided in one step of the text.
  void step(const trace::StepRecord& record);

  double tokens() const { return tokens_; }
  double impossible() const { return impossible_; }  // emitted tokens of p = 0
  // Those that have samples; size: of the family.
  std::vector<Gate> report(double size) const;
  // All that is held, as a document and back. InputError: it is no such document.
  config::Value state() const;
  void restore(const config::Value& state);

 private:
  template <class Of, class F>  // of gates, const or not
  static void for_each_sum(Of& gates, F&& visit) {
    visit("log_p", gates.log_p_), visit("log_q", gates.log_q_), visit("above", gates.above_);
    visit("acceptance", gates.acceptance_), visit("foretold", gates.foretold_);
    visit("overlap", gates.overlap_);
  }
  void report_ranks(double each, std::vector<Gate>& out) const;
  void test_overlap(const trace::NodeRecord& node);
  double tokens_ = 0, impossible_ = 0;
  Martingale log_p_, log_q_, above_, acceptance_, foretold_, overlap_;
  double not_ratio_ = 0;  // tests of a first child by another chance than min(1, p/q)
  Uniforms ranks_;
  std::vector<double> p_, q_;  // [V] work space
};

}  // namespace redline::check
