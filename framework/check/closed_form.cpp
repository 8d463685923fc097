// SPDX-License-Identifier: Apache-2.0
#include "check/closed_form.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "step/optimal.hpp"

namespace redline::check {
namespace {

using Probs = std::vector<double>;

Probs law(const Table& table, const std::vector<Token>& path) {
  const auto it = table.find(path);
  const std::vector<float>& p = it != table.end() ? it->second : table.at({});
  Probs out(p.begin(), p.end());
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& x : out) x /= sum;
  return out;
}

// The sum over all paths of a chain of what `weight(before, p, q)` makes of the weight before.
using Weigh = std::function<double(double before, double p, double q)>;
double sum_over_paths(const Pair& t, std::size_t depth, std::vector<Token>& path, double reach,
                      double before, const Weigh& weigh, bool is_drawn) {
  if (path.size() == depth) return 0;
  const Probs p = law(t.p, path), q = law(t.q, path);
  double sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) {
    const double weight = weigh(before, p[x], q[x]);
    const double drawn = is_drawn ? reach * q[x] : 1;
    if (weight <= 0 || drawn <= 0) continue;
    path.push_back(static_cast<Token>(x));
    sum += drawn * weight + sum_over_paths(t, depth, path, drawn, weight, weigh, is_drawn);
    path.pop_back();
  }
  return sum;
}

double ratio_chain(const Pair& t, std::size_t depth) {
  std::vector<Token> path;
  return sum_over_paths(
      t, depth, path, 1, 1, [](double w, double p, double q) { return w * std::min(p, q); }, false);
}
double match_chain(const Pair& t, std::size_t depth) {
  std::vector<Token> path;
  return sum_over_paths(
      t, depth, path, 1, 1, [](double w, double p, double q) { return w * p * q; }, false);
}
double block_chain(const Pair& t, std::size_t depth) {
  std::vector<Token> path;
  return sum_over_paths(
      t, depth, path, 1, 1,
      [](double w, double p, double q) { return q > 0 ? std::min(1.0, w * p / q) : 0; }, true);
}

// Round after round against what is left of p.
double rounds(const Pair& t, int siblings) {
  Probs p = law(t.p, {});
  const Probs q = law(t.q, {});
  double refused = 1;
  for (int k = 0; k < siblings; ++k) {
    double overlap = 0, left = 0;
    for (std::size_t x = 0; x < p.size(); ++x) overlap += std::min(p[x], q[x]);
    for (std::size_t x = 0; x < p.size(); ++x) left += p[x] = std::max(0.0, p[x] - q[x]);
    refused *= 1 - overlap;
    if (left <= 0) return 1;
    for (double& x : p) x /= left;
  }
  return 1 - refused;
}

// By slack rho: the chance that one of the siblings is kept, and the mass that all of them may
// take.
std::pair<double, double> kept_and_room(const Probs& p, const Probs& q, double rho, int siblings) {
  double beta = 0;
  for (std::size_t x = 0; x < p.size(); ++x) beta += std::min(q[x], p[x] / rho);
  return {1 - std::pow(1 - beta, siblings), rho * beta};
}

double kseq(const Pair& t, int siblings) {
  return kept_and_room(law(t.p, {}), law(t.q, {}), kseq_slack(t, siblings), siblings).first;
}

double transport(const Pair& t, int siblings) {
  return step::most_kept(Row::dense(t.p.at({})), Row::dense(t.q.at({})), siblings);
}

std::size_t depth_of(const std::string& shape) {  // of a chain; 0: it is none
  if (shape.empty() || shape.find_first_not_of("1;") != std::string::npos) return 0;
  return 1 + static_cast<std::size_t>(std::count(shape.begin(), shape.end(), ';'));
}
int siblings_of(const std::string& shape) {  // under the root alone; 0: there is more
  return shape.size() == 1 && shape[0] > '0' && shape[0] <= '9' ? shape[0] - '0' : 0;
}

}  // namespace

double kseq_slack(const Pair& t, int siblings) {
  const Probs p = law(t.p, {}), q = law(t.q, {});
  double low = 1, high = siblings;
  for (int k = 0; k < 200; ++k) {
    const double rho = (low + high) / 2;
    const auto [accepted, room] = kept_and_room(p, q, rho, siblings);
    (accepted <= room ? high : low) = rho;
  }
  return (low + high) / 2;
}

std::optional<double> kept_by(const std::string& rule, const Pair& t, const std::string& shape) {
  if (const std::size_t depth = depth_of(shape); depth > 0) {
    if (rule == "accept_ratio" || rule == "accept_multiround") return ratio_chain(t, depth);
    if (rule == "accept_block" || rule == "accept_traversal") return block_chain(t, depth);
    if (rule == "accept_match" || rule == "accept_delta") return match_chain(t, depth);
  }
  const int siblings = siblings_of(shape);
  if (siblings == 0) return std::nullopt;
  if (rule == "accept_multiround" || rule == "accept_traversal") return rounds(t, siblings);
  if (rule == "accept_kseq") return kseq(t, siblings);
  if (rule == "accept_optimal") return transport(t, siblings);
  return std::nullopt;
}

std::optional<double> kept_at_best(const Pair& t, const std::string& shape) {
  if (const std::size_t depth = depth_of(shape); depth > 0) return block_chain(t, depth);
  const int siblings = siblings_of(shape);
  if (siblings == 0) return std::nullopt;
  return transport(t, siblings);
}

}  // namespace redline::check
