// SPDX-License-Identifier: Apache-2.0
// What an approximate rule tells of itself against the law it emits: one node, given tokens, and
// siblings where it tells of them.
#include <cmath>

#include "check/subject.hpp"
#include "check/survey.hpp"
#include "check/vectors.hpp"

namespace redline::check {
namespace {

Said hold_told_tv(const Subject& s) {
  const bool is_chain = s.rule_contract().shape == Shape::CHAIN;
  int told = 0, untold = 0;
  double most = 0;
  for (const Vectors& vectors : {published_vectors(), edge_vectors()})
    for (const Named& v : vectors)
      for (const char* method : {"iid", "top", "greedy"})
        for (const char* shape : {"1", "1;1", "2", "2;1,1"}) {
          if (is_chain && shape[0] != '1') continue;
          Case c = s.place(v.tables, shape, method);
          c.traces_nodes = true;
          const Finding f = enumerate(s.registry(), c);
          std::isnan(f.told_tv) ? ++untold : ++told;
          most = std::max(most, f.first_tv);
          if (std::abs(f.told_tv - f.first_tv) > kForetold)
            throw Error("tv: tells " + brief(f.told_tv) + ", emits a law that is off by " +
                        brief(f.first_tv) + " (" + v.name + ", " + method + ", shape " + shape +
                        ")");
        }
  if (told == 0)
    return {"tells no TV of a node: override do_tv, and traces hold how lossy each was"};
  return {"as told of " + std::to_string(told) + " drafts, up to " + brief(most) +
          (untold > 0 ? "; not told of " + std::to_string(untold) : "")};
}

}  // namespace

std::vector<Check> tv_checks(const Subject& s) {
  return {{"tv", [&s] { return hold_told_tv(s); }}};
}

}  // namespace redline::check
