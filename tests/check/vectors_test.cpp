// SPDX-License-Identifier: Apache-2.0
// Closed forms against published numbers, and a user's own vectors from a file.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "check/closed_form.hpp"
#include "check/vector_file.hpp"
#include "check/vectors.hpp"
#include "step/cell.hpp"

namespace redline::check {
namespace {

TEST_CASE("Closed forms are as published") {
  const auto kept = [](const char* rule, const Pair& tables, const char* shape) {
    return kept_by(rule, tables, shape).value();
  };
  CHECK(kept("accept_ratio", VA, "1;1;1") == Approx(1.533));
  CHECK(kept("accept_ratio", C1, "1;1") == Approx(1.355));
  CHECK(kept("accept_block", VB, "1;1;1") == Approx(1.346));
  CHECK(kept("accept_traversal", C1, "1;1") == Approx(1.41));
  CHECK(kept("accept_match", VB, "1") == Approx(.2));
  CHECK(kept("accept_multiround", VB, "3") == Approx(.768));
  CHECK(kept("accept_multiround", VC, "2") == Approx(.6625));
  CHECK(kept("accept_kseq", VA, "3") == Approx(.858519).epsilon(1e-6));
  CHECK(kept("accept_kseq", VB, "2") == Approx(.75));
  CHECK(kept("accept_optimal", VA, "3") == Approx(.988));
  CHECK(kept_at_best(V2, "1;1").value() == Approx(11. / 9));
  CHECK(kept_at_best(VC, "3").value() == Approx(.878125));
  CHECK_FALSE(kept_by("accept_ratio", VA, "2;1,1"));
  CHECK_FALSE(kept_at_best(VA, "2;1,1"));
}

std::filesystem::path written(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("redline-vectors-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << text;
  return path;
}

config::Value examined(const std::string& rule, const std::string& text) {
  const auto cases = load_vectors(written(text));
  const Subject subject(step::registry(), step::registry().find(rule), {});
  const auto checks = vector_checks(subject, cases);
  REQUIRE(checks.size() == 1);
  return config::parse_json(checks[0].run().text, "answer");
}

TEST_CASE("A user's vectors are enumerated, and held to the formula given") {
  const std::string mine =
      "vectors:\n"
      "  - name: mine\n"
      "    p: {'': [0.6, 0.3, 0.1], '0': [0.1, 0.2, 0.7]}\n"
      "    q: [0.4, 0.4, 0.2]\n"
      "    shapes: ['1;1']\n";
  const config::Value right = examined("accept_ratio", mine);
  const double kept = right.at("accepted").number(0, 2);
  CHECK(kept == Approx(right.at("closed_form").number(0, 2)));
  CHECK(kept == Approx(.4 * (1 + .5) + .4 * (1 + .8)));
  CHECK(right.at("at_best").number(0, 2) >= kept);
  CHECK(right.at("fault").text().empty());
  CHECK(right.at("first").at("0").number(0, 1) == Approx(.6));
  CHECK(right.at("joint").at("0 2 0").number(0, 1) == Approx(.6 * .7 * .6));
  CHECK(examined("accept_ratio", mine + "    accepted: {'1;1': 0.9}\n").at("fault").text() ==
        "closed form");
  CHECK(examined("n1", mine).at("fault").text() == "first-token law");
}

TEST_CASE("A vector that cannot be read is refused with its line") {
  const auto why = [](const std::string& laws) {
    try {
      load_vectors(written("vectors:\n  - name: x\n    shapes: ['1']\n" + laws));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(why("    p: [0.5, 0.6]\n    q: [1, 0]\n"), Contains("yaml:4") && Contains("not to 1"));
  CHECK_THAT(why("    p: [0.5, 0.5]\n    q: [1]\n"), Contains("yaml:5") && Contains("p has 2"));
  CHECK_THAT(why("    p: {'': [1, 0], '7': [1, 0]}\n    q: [1, 0]\n"), Contains("token 7"));
  CHECK_THAT(why("    p: [1, 0]\n    r: [1, 0]\n"), Contains("'r'"));
}

}  // namespace
}  // namespace redline::check
