// SPDX-License-Identifier: Apache-2.0
#include "check/gates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "check/statistics.hpp"
#include "redline/acceptance_rule.hpp"
#include "step/draws.hpp"

namespace redline::check {
namespace {

constexpr double kLeastQ = 1e-6;        // log q is cut off here: one token must not be the sum
constexpr double kSameChance = 1e-4;    // records hold float32
constexpr double kEnoughSamples = 100;  // for the normal law to stand in
constexpr double kPower = .99;
constexpr double kFamily = 9;  // gates at most: each may be wrong by a share of the size
constexpr std::uint8_t kBernoulli = 0;

// f(y) - E_p f and its variance.
template <class F>
void add(Martingale& to, const std::vector<double>& p, Token y, F&& f) {
  double mean = 0, square = 0;
  for (std::size_t t = 0; t < p.size(); ++t) {
    if (p[t] <= 0) continue;
    const double value = f(t);
    mean += p[t] * value;
    square += p[t] * value * value;
  }
  to.add(f(static_cast<std::size_t>(y)) - mean, std::max(0.0, square - mean * mean));
}

// Where y stands when tokens are laid out by rising p/q: any place in its own share of p.
double place_of(Token y, const std::vector<double>& p, const std::vector<double>* q, double u) {
  const auto at = static_cast<std::size_t>(y);
  double before = 0;
  for (std::size_t t = 0; t < p.size(); ++t) {
    const double a = q ? p[t] * (*q)[at] : p[t], b = q ? p[at] * (*q)[t] : p[at];
    if (a < b || (a == b && t < at)) before += p[t];
  }
  return before + u * p[at];
}

double read(const config::Value& state, const char* name) {
  return state.at(name).number(-HUGE_VAL, HUGE_VAL);
}

// How many deviations a two-sided normal test of this size detects.
double sigmas(double size) { return normal_quantile(1 - size / 2) + normal_quantile(kPower); }

}  // namespace

void Martingale::add(double deviation, double its_variance) {
  ++samples;
  sum += deviation;
  variance += its_variance;
}

double Martingale::z() const {
  if (variance > 0) return sum / std::sqrt(variance);
  return sum == 0 ? 0 : HUGE_VAL;
}

void Uniforms::add(double u) {
  const auto cell = static_cast<int>(u * kCells);
  ++cells_[std::clamp(cell, 0, kCells - 1)];
  ++samples_;
  if (before_ >= 0) product_ += (u - .5) * (before_ - .5), ++pairs_;
  before_ = u;
}

double Uniforms::chi_square() const {
  const double expected = samples_ / kBins;
  double sum = 0;
  for (int bin = 0; bin < kBins; ++bin) {
    double seen = 0;
    for (int k = 0; k < kCells / kBins; ++k) seen += cells_[bin * (kCells / kBins) + k];
    sum += (seen - expected) * (seen - expected) / expected;
  }
  return sum;
}

double Uniforms::distance() const {
  double below = 0, farthest = 0;
  for (int k = 0; k < kCells; ++k) {
    below += cells_[k];
    farthest = std::max(farthest, std::abs(below / samples_ - (k + 1.0) / kCells));
  }
  return farthest;
}

config::Value Martingale::state() const {
  return config::Value::map()
      .put("samples", config::Value::of(samples))
      .put("sum", config::Value::of(sum))
      .put("variance", config::Value::of(variance));
}

void Martingale::restore(const config::Value& state) {
  samples = read(state, "samples");
  sum = read(state, "sum");
  variance = read(state, "variance");
}

double Uniforms::lag() const { return pairs_ > 0 ? product_ * 12 / std::sqrt(pairs_) : 0; }

config::Value Uniforms::state() const {
  std::vector<config::Value> cells;
  for (const double count : cells_) cells.push_back(config::Value::of(count));
  return config::Value::map()
      .put("pairs", config::Value::of(pairs_))
      .put("product", config::Value::of(product_))
      .put("cells", config::Value::list_of(std::move(cells)));
}

void Uniforms::restore(const config::Value& state) {
  pairs_ = read(state, "pairs");
  product_ = read(state, "product");
  const auto& cells = state.at("cells").list();
  if (cells.size() != kCells) state.refuse("holds another number of cells");
  for (int k = 0; k < kCells; ++k) cells_[k] = cells[k].number(0, HUGE_VAL);
  samples_ = std::accumulate(cells_.begin(), cells_.end(), 0.0);
  begin();
}

void Gates::token(Token y, const Row& p, const Row* q, double u) {
  ++tokens_;
  if (p.at(y) <= 0) {
    ++impossible_;
    return;
  }
  p_.resize(p.vocab());
  p.read(0, p_);
  if (q) q_.resize(q->vocab()), q->read(0, q_);
  check::add(log_p_, p_, y, [this](auto t) { return std::log(p_[t]); });
  if (q) {
    check::add(log_q_, p_, y, [this](auto t) { return std::log(std::max(q_[t], kLeastQ)); });
    check::add(above_, p_, y, [this](auto t) { return p_[t] > q_[t] ? 1. : 0.; });
  }
  ranks_.add(place_of(y, p_, q ? &q_ : nullptr, u));
}

void Gates::step(const trace::StepRecord& r) {
  if (r.n_nodes == 0) return;
  for (const trace::DecisionRecord& d : r.decisions) {
    if (d.kind != kBernoulli || d.stream != static_cast<std::uint8_t>(step::Stream::ACCEPT))
      continue;
    const double chance = d.outcome ? d.prob : 1 - d.prob;
    acceptance_.add(d.outcome - chance, chance * (1 - chance));
  }
  if (!std::isnan(r.expected_accepted))
    foretold_.add(r.accepted_by_rule - double{r.expected_accepted});
  std::set<int> parents;
  for (const trace::NodeRecord& node : r.nodes)
    if (parents.insert(node.parent).second) test_overlap(node);
}

// Of the first child of its parent. Where every such test is the token ratio, its mean chance is
// the overlap of p and q if the token was drawn from q.
void Gates::test_overlap(const trace::NodeRecord& node) {
  if (node.law != static_cast<std::uint8_t>(Law::ROW) || std::isnan(node.accept_prob)) return;
  const double chance = ratio(std::exp(double{node.p_logprob}), std::exp(double{node.q_logprob}));
  if (std::abs(chance - node.accept_prob) > kSameChance) ++not_ratio_;
  overlap_.add(double{node.accept_prob} - node.alpha);
}

std::vector<Gate> Gates::report(double size) const {
  const double each = size / kFamily;
  std::vector<Gate> out;
  const auto put = [&](const char* name, const Martingale& m, const char* unit) {
    if (m.samples < kEnoughSamples || (m.variance == 0 && m.sum == 0)) return;
    const double reach = sigmas(each) * std::sqrt(m.variance) / m.samples;
    out.push_back({name, m.samples, m.z(), normal_tails(m.z()), reach, unit});
  };
  put("log p", log_p_, "nats a token");
  put("log q", log_q_, "nats a token");
  put("p above q", above_, "TV");
  put("acceptance", acceptance_, "a test");
  put("foretold acceptance", foretold_, "tokens a step");
  if (not_ratio_ == 0) put("overlap", overlap_, "a test");
  if (ranks_.samples() >= kEnoughSamples) report_ranks(each, out);
  return out;
}

void Gates::report_ranks(double each, std::vector<Gate>& out) const {
  constexpr double kFreedom = Uniforms::kBins - 1;
  const double n = ranks_.samples(), chi = ranks_.chi_square(), far = ranks_.distance();
  const double lambda = detectable_noncentrality(kFreedom, each, kPower);
  const double bound = std::sqrt(std::log(2 / each) / 2) + normal_quantile(kPower) / 2;
  out.push_back({"ranks, 64 bins", n, chi, chi_square_tail(chi, kFreedom),
                 std::sqrt(lambda / (4 * n)), "TV"});
  out.push_back({"ranks, distance", n, far, kolmogorov_tail(far, n), bound / std::sqrt(n), "TV"});
  out.push_back({"ranks, lag 1", n, ranks_.lag(), normal_tails(ranks_.lag()),
                 sigmas(each) / std::sqrt(n), "correlation"});
}

config::Value Gates::state() const {
  auto out = config::Value::map();
  out.put("tokens", config::Value::of(tokens_)).put("impossible", config::Value::of(impossible_));
  for_each_sum(*this, [&](const char* name, const Martingale& m) { out.put(name, m.state()); });
  return out.put("not_ratio", config::Value::of(not_ratio_)).put("ranks", ranks_.state());
}

void Gates::restore(const config::Value& state) {
  tokens_ = read(state, "tokens");
  impossible_ = read(state, "impossible");
  for_each_sum(*this, [&](const char* name, Martingale& m) { m.restore(state.at(name)); });
  not_ratio_ = read(state, "not_ratio");
  ranks_.restore(state.at("ranks"));
}

}  // namespace redline::check
