// SPDX-License-Identifier: Apache-2.0
// Whether to speculate at all, from the steps of the past: on while it pays, and a little longer
// while the loss is within its budget; off for a while otherwise, then a probe within the same
// budget. What a request's draft is fed and what its steps lose is owed until later steps of that
// request gain it; what is owed is the loss. Never off for good.
#pragma once
#include <algorithm>
#include <cmath>

struct SwitchSettings {
  double loss_budget;      // share of the decoding time that speculation may lose in all
  double half_life_steps;  // of what is known of the past
  int backoff_tokens, max_backoff_tokens;
};

struct SwitchStep {  // a step on the stored costs
  double tokens;     // that it committed
  double spec_ns;    // what it took, feeding left out
  double plain_ns;   // what one plain step would have taken
};

class Switch {
 public:
  explicit Switch(const SwitchSettings& settings)
      : settings_(settings),
        fading_(std::exp2(-1.0 / settings.half_life_steps)),
        backoff_(settings.backoff_tokens) {}

  bool is_on() const { return mode_ != Mode::OFF; }
  bool may_draft() const { return is_on() || waited_ >= backoff_; }

  // Whether a sequence may draft, whose draft must be fed at such a cost before (0: it need not).
  // What is fed already is paid for; the first of a run are fed to see what comes of it. May begin
  // a probe.
  bool admits(double feed_ns) {
    switch (mode_) {
      case Mode::ON:
        return feed_ns <= 0 || is_new_ || within_budget();
      case Mode::PROBE:
        return feed_ns <= 0 || loss_ns_ + feed_ns <= budget_ns();
      case Mode::OFF:
        break;
    }
    if (!may_draft() || loss_ns_ + feed_ns > budget_ns()) return false;
    start(Mode::PROBE);
    return true;
  }

  // owed_ns: of the sequence, here and below.
  void feed(double ns, double& owed_ns) {
    decode_ns_ += ns;
    owed_ns += ns, loss_ns_ += ns;
  }

  void plain_step(double ns) {
    decode_ns_ += ns;
    ++waited_;
  }

  void speculative_step(const SwitchStep& s, double& owed_ns) {
    decode_ns_ += s.spec_ns;
    const double paid_ns = std::min(s.tokens * s.plain_ns - s.spec_ns, owed_ns);
    owed_ns -= paid_ns, loss_ns_ -= paid_ns;
    weight_ = fading_ * weight_ + 1;
    tokens_ = fading_ * tokens_ + s.tokens;
    squares_ = fading_ * squares_ + s.tokens * s.tokens;
    spec_ns_ = fading_ * spec_ns_ + s.spec_ns;
    plain_ns_ = fading_ * plain_ns_ + s.plain_ns;
    ++steps_;
    is_new_ = false;
    decide();
  }

  // Gain over plain decoding and its standard error, from the steps since the last start.
  double gain() const { return tokens_ / weight_ * plain_ns_ / spec_ns_; }
  double error() const {
    const double mean = tokens_ / weight_;
    const double variance = std::max(0.0, squares_ / weight_ - mean * mean);
    return std::sqrt(variance / std::max(1.0, weight_)) * plain_ns_ / spec_ns_;
  }

 private:
  enum class Mode { ON, OFF, PROBE };
  static constexpr int kLeastSteps = 8;   // before a mean is believed
  static constexpr int kProbeSteps = 32;  // a probe that proves nothing in so many ends
  static constexpr int kPatience = 16;  // steps that do not pay in a row, whatever is left to lose
  static constexpr double kSureGain = 1.05;

  double budget_ns() const { return settings_.loss_budget * decode_ns_; }
  bool within_budget() const { return loss_ns_ <= budget_ns(); }

  void start(Mode mode) {
    mode_ = mode;
    weight_ = tokens_ = squares_ = spec_ns_ = plain_ns_ = 0;
    steps_ = waited_ = unpaid_ = 0;
  }

  void decide() {
    if (mode_ == Mode::PROBE) {
      if (steps_ >= kLeastSteps && gain() - error() > kSureGain) {
        mode_ = Mode::ON;
        backoff_ = settings_.backoff_tokens;
      } else if (!within_budget() || steps_ >= kProbeSteps) {
        start(Mode::OFF);
        backoff_ = std::min(2 * backoff_, settings_.max_backoff_tokens);
      }
      return;
    }
    const bool pays = steps_ < kLeastSteps || gain() + error() >= 1;
    unpaid_ = pays ? 0 : unpaid_ + 1;
    if (!pays && (unpaid_ > kPatience || !within_budget())) {
      start(Mode::OFF);
      backoff_ = settings_.backoff_tokens;
    }
  }

  SwitchSettings settings_;
  double fading_;
  Mode mode_ = Mode::ON;
  bool is_new_ = true;  // no speculative step was seen yet
  int backoff_, waited_ = 0, steps_ = 0, unpaid_ = 0;
  double weight_ = 0, tokens_ = 0, squares_ = 0, spec_ns_ = 0, plain_ns_ = 0;  // fading sums
  double decode_ns_ = 0;
  double loss_ns_ = 0;  // what is owed by all sequences, those that ended among them
};
