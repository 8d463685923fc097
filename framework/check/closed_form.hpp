// SPDX-License-Identifier: Apache-2.0
// How many drafted tokens are kept on average where that is known in closed form: oracles that
// share no code with the rules.
#pragma once
#include <optional>
#include <string>

#include "check/enumeration.hpp"

namespace redline::check {

// Of a shipped rule, by its name. Shapes: chains ("1;1") and siblings ("3"), drawn i.i.d.
std::optional<double> kept_by(const std::string& rule, const Pair& tables,
                              const std::string& shape);

// The most that any lossless rule keeps: of a chain by block verification, of siblings by optimal
// transport.
std::optional<double> kept_at_best(const Pair& tables, const std::string& shape);

// The least slack that lets so many i.i.d. siblings be tested alike (k-SEQ).
double kseq_slack(const Pair& tables, int siblings);

}  // namespace redline::check
