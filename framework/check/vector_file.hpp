// SPDX-License-Identifier: Apache-2.0
// A user's own vectors: target and draft laws and the shapes to draft, from a YAML or JSON file
// (docs/check.md), and what a rule makes of them, exactly.
#pragma once
#include <filesystem>
#include <map>
#include <vector>

#include "check/named.hpp"
#include "check/subject.hpp"
#include "config/value.hpp"

namespace redline::check {

struct VectorCase {
  Named laws;
  std::string method;  // of draft_tree
  std::vector<std::string> shapes;
  std::map<std::string, double> accepted;  // by shape: what the author's formula says
};

// InputError with file:line: no law, a law that does not sum to 1, a token outside V.
std::vector<VectorCase> load_vectors(const std::filesystem::path& file);

// A check for each vector and shape, whose answer is a JSON object: accepted, foretold,
// closed_form, at_best, first_tv, joint_tv, first (the law of the first token), joint (of all),
// fault ("" when nothing is violated).
std::vector<Check> vector_checks(const Subject& subject, const std::vector<VectorCase>& cases);

}  // namespace redline::check
