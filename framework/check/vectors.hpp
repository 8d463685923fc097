// SPDX-License-Identifier: Apache-2.0
// Target and draft laws whose numbers are published or derived (docs/design.md names their source).
#pragma once
#include "check/named.hpp"

namespace redline::check {

inline const Pair VA = flat({.5, .3, .2}, {.2, .3, .5});
inline const Pair VB = flat({.4, .3, .2, .1}, {.1, .2, .3, .4});
inline const Pair VC = flat({.7, .2, .1, 0}, {.25, .25, .25, .25});
inline const Pair V2 = flat({1.F / 3, 2.F / 3}, {2.F / 3, 1.F / 3});
inline const Pair VP = flat({.4, .3, .2, .1}, {.4, .3, .2, .1});
inline const Pair VD = flat({.6, .4, 0, 0}, {0, 0, .3, .7});
inline const Pair C1 = {{{{}, {.6, .3, .1}},
                         {{0}, {.1, .2, .7}},
                         {{1}, {.5, .25, .25}},
                         {{2}, {.3, .3, .4}},
                         {{0, 0}, {.2, .2, .6}},
                         {{0, 2}, {.7, .2, .1}},
                         {{1, 0}, {.25, .5, .25}}},
                        {{{}, {.4, .4, .2}},
                         {{0}, {.3, .3, .4}},
                         {{1}, {.2, .6, .2}},
                         {{2}, {.5, .25, .25}},
                         {{0, 0}, {.5, .3, .2}},
                         {{0, 2}, {.4, .4, .2}}}};

inline std::vector<Named> published_vectors() {
  return {{"VA", VA}, {"VB", VB}, {"VC", VC}, {"V2", V2}, {"C1", C1}};
}
// What rounding and zeros like to break: p = q, disjoint supports, point masses, a draft whose
// support two siblings exhaust.
inline std::vector<Named> edge_vectors() {
  return {{"p = q", VP},
          {"disjoint", VD},
          {"point p", flat({0, 1, 0}, {.2, .3, .5})},
          {"point q", flat({.2, .3, .5}, {0, 1, 0})},
          {"same point", flat({0, 1, 0}, {0, 1, 0})},
          {"exhausted", flat({.2, .3, .5}, {.5, .5, 0})}};
}

}  // namespace redline::check
