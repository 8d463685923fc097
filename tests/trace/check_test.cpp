// SPDX-License-Identifier: Apache-2.0
// Unsound records go past the Writer's own guard, straight into the Store.
#include "trace/check.hpp"

#include <catch2/catch.hpp>

#include "trace/folder.hpp"
#include "trace/store.hpp"
#include "trace/synthetic.hpp"

using namespace redline::trace;
using Catch::Matchers::Contains;
using synthetic::Folder;

namespace {

constexpr std::uint32_t kRequest = 4;  // five steps; the first has four nodes

CheckResult check_after(const std::function<void(StepRecord&)>& change_first_step,
                        const std::function<void(RequestRecord&)>& change_request = {}) {
  const Folder folder;
  {
    Store store(folder / "trace-000.h5", synthetic::header(Level::TOPK), true);
    for (std::uint32_t s = 0; s < synthetic::steps(kRequest); ++s) {
      StepRecord step = synthetic::step(kRequest, s, Level::TOPK);
      if (s == 0 && change_first_step) change_first_step(step);
      store.add(step);
    }
    RequestRecord request = synthetic::request(kRequest);
    if (change_request) change_request(request);
    store.add(request);
    store.finish();
  }
  return check(Reader(folder / "trace-000.h5"));
}

void expect_broken(const CheckResult& result, const std::string& rule) {
  REQUIRE_FALSE(result.violations.empty());
  CHECK_THAT(result.violations.front(), Contains(rule));
}

}  // namespace

TEST_CASE("A sound trace breaks no rule") { CHECK(check_after({}).violation_count == 0); }

TEST_CASE("Each rule is broken by its own breach") {
  using S = StepRecord;
  using R = RequestRecord;
  expect_broken(check_after([](S& s) { s.accepted_by_rule = 9; }), "accepted_by_rule <= drafted");
  expect_broken(check_after([](S& s) { s.emitted = 99; }), "emitted <= committed");
  expect_broken(check_after([](S& s) { s.emitted = 0; }), "sum of emitted = n_output");
  expect_broken(check_after({}, [](R& r) { r.n_steps = 3; }), "rows of /steps = n_steps");
  expect_broken(check_after({}, [](R& r) { r.prompt_tokens.pop_back(); }), "length of n_prompt");
  expect_broken(check_after([](S& s) { s.nodes[1].parent = 3; }), "parents precede children");
  expect_broken(check_after([](S& s) {
                  s.nodes[0].state = NodeState::REJECTED;
                  s.accepted_by_rule = 4;
                }),
                "accepted nodes = accepted_by_rule");
  expect_broken(check_after([](S& s) { s.nodes[0].alpha = 1.5F; }), "alpha is in range");
  expect_broken(check_after([](S& s) { s.nodes[0].p_logprob = 0.5F; }), "p_logprob is in range");
  expect_broken(check_after([](S& s) { s.decisions[0].prob = -1; }), "prob is in range");
  expect_broken(check_after([](S& s) { s.target_rows[0].tail_mass = 2; }), "tail_mass is in range");
  expect_broken(check_after([](S& s) { s.request_key = 1; }), "sum of emitted = n_output");
}

TEST_CASE("A draft beyond its budget, and an answer below it, are told") {
  using S = StepRecord;
  CHECK(check_after([](S& s) {
          s.budget_nodes = s.n_nodes, s.budget_depth = s.max_depth;
          s.answers = {{0, true}, {1, false}};
        }).violation_count == 0);
  expect_broken(check_after([](S& s) { s.budget_nodes = 1, s.budget_depth = 9; }),
                "n_nodes <= budget_nodes");
  expect_broken(check_after([](S& s) { s.budget_nodes = 9, s.budget_depth = 0; }),
                "max_depth <= budget_depth");
  expect_broken(check_after([](S& s) {
                  s.budget_nodes = 9, s.budget_depth = 4;
                  s.answers = {{4, true}};
                }),
                "depth of an answer < budget_depth");
}

TEST_CASE("Many breaches are counted and a few are told") {
  const CheckResult result = check_after([](StepRecord& s) {
    for (NodeRecord& node : s.nodes) node.alpha = node.accept_prob = 7;
    for (LogitsRecord& row : s.target_rows) row.entropy = -1;
    for (LogitsRecord& row : s.draft_rows) row.entropy = -1;
  });
  CHECK(result.violation_count == 17);    // 4 + 4 + 5 + 4
  CHECK(result.violations.size() == 13);  // 4 + 4 + 5 of entropy
}

TEST_CASE("A killed file may end in steps of no request") {
  const Folder folder;
  {
    Store store(folder / "trace-000.h5", synthetic::header(Level::TOPK), true);
    store.add(synthetic::step(kRequest, 0, Level::TOPK));
    store.flush();
    store.abandon();
  }
  std::filesystem::copy_file(folder / "trace-000.h5", folder / "copy.h5");  // its lock is our own
  const Reader reader(folder / "copy.h5");
  const CheckResult result = check(reader);
  CHECK_FALSE(reader.complete());
  CHECK(result.violation_count == 0);
  CHECK(result.unfinished_steps == 1);
}
