// SPDX-License-Identifier: Apache-2.0
// draft_pipe and a process on its other end: what it drafts, and each way such a process goes
// wrong.
#include <sys/wait.h>

#include <catch2/catch.hpp>

#include "stage.hpp"

using namespace redline;
using Catch::Matchers::Contains;
using stage::tokens;
using Ids = std::vector<Token>;

namespace {

constexpr Token kWrong = 7;  // a text that begins with it is answered wrongly
constexpr int kVocab = 20;

struct Pipe {
  explicit Pipe(const std::string& how, const std::string& mode = "delta", bool tree = false,
                const std::string& limit_s = "20") {
    plugin::Arguments arguments{{"command", REDLINE_PIPE_CLIENT " '" + how + "'", "test"},
                                {"mode", mode, "test"},
                                {"tree", tree ? "true" : "false", "test"},
                                {"limit_s", limit_s, "test"},
                                {"start_s", how == "never ready" ? "0.1" : "20", "test"}};
    stage::Host host;
    drafter = stage::registry().make<Drafter>("draft_pipe", arguments, host);
  }
  Draft draft(const Ids& text, int depth = 3, std::vector<int> script = {}) const {
    stage::Draws draws(std::move(script));
    const Sequence s{4, text, 1, 100, kVocab};
    return stage::propose(*drafter, {&s, 1}, depth, draws).front();
  }
  std::unique_ptr<Drafter> drafter;
};

void check_refused(const std::string& how, const std::string& mode, const std::string& why) {
  INFO(how);
  const Pipe pipe(how, mode);
  CHECK_THROWS_WITH(pipe.draft({kWrong}, 3, {8, 9, 10}),
                    Contains("draft_pipe.propose") && Contains("sequence 4: " + why));
  CHECK(pipe.draft({1}, 2, {2, 3}).size() == 2);  // the next sequence is served
}

void check_ended(const std::string& how, const std::string& why) {
  INFO(how);
  const Pipe pipe(how, "delta", false, how == "hangs" ? "0.1" : "20");
  CHECK_THROWS_WITH(pipe.draft({1}), Contains("draft_pipe.propose") &&
                                         Contains(REDLINE_PIPE_CLIENT) && Contains(why));
  CHECK_THROWS_WITH(pipe.draft({1}), Contains(why));  // and nothing hangs again
}

}  // namespace

TEST_CASE("draft_pipe drafts the chain or tree it is given") {
  const Pipe chain("right");
  CHECK(tokens(chain.draft({3})) == Ids{4, 5, 6});
  CHECK(chain.draft({3}).item(1).law == Law::DELTA);
  CHECK(chain.drafter->contract().shape == Shape::CHAIN);
  const Pipe star("star", "delta", true);
  CHECK(star.draft({3}).height() == 1);
  CHECK(star.draft({3}).size() == 3);
  CHECK(star.drafter->contract().shape == Shape::TREE);
}

TEST_CASE("draft_pipe draws from the rows it is given, one after the other") {
  const Pipe rows("right", "row");
  const Draft d = rows.draft({3}, 3, {4, 6, 7});
  CHECK(tokens(d) == Ids{4, 6, 7});
  CHECK(d.item(3).law == Law::ROW);
  CHECK(d.q(2).at(6) == Approx(.25));
  CHECK(rows.drafter->contract().emits.row);
  CHECK(Pipe("stops", "row").draft({3}).size() == 0);
}

TEST_CASE("draft_pipe asks for all sequences at once, however long they are") {
  const Pipe pipe("right");
  const Ids a(100000, 2), b{5};
  const Sequence s[] = {{1, a, 1, 100, kVocab}, {2, b, 1, 100, kVocab}};
  stage::Draws none;
  const auto drafts = stage::propose(*pipe.drafter, s, 2, none);
  CHECK(tokens(drafts[0]) == Ids{3, 4});
  CHECK(tokens(drafts[1]) == Ids{6, 7});
}

TEST_CASE("draft_pipe tells which requests have ended") {
  const Pipe pipe("says who ended");  // drafts the id of a request that ended, if one did
  CHECK(tokens(pipe.draft({8})) == Ids{9, 10, 11});
  CHECK(tokens(pipe.draft({8}, 1)) == Ids{4});  // the one before, whose state is gone
  CHECK(tokens(pipe.draft({8}, 1)) == Ids{4});  // each is told of once
}

TEST_CASE("draft_pipe refuses what is no draft, and goes on with the next") {
  check_refused("token", "delta", "node 1 has token 20, V = 20");
  check_refused("nodes", "delta", "4 nodes given, 0 to 3 fit");
  check_refused("unanswered", "delta", "-1 nodes given, 0 to 3 fit");
  check_refused("parent", "delta", "node 2 has parent 2; parents come first");
  check_refused("unanswered", "row", "-1 rows given");
  check_refused("rows", "row", "2 rows given");
  check_refused("nan", "row", "the row after 0 drafted tokens: ");
  check_refused("sum", "row", "the row after 0 drafted tokens: ");
  CHECK_THROWS_WITH(Pipe("star").draft({3}), Contains("in a chain; set tree: true"));
}

TEST_CASE(
    "A process that dies, hangs or speaks out of turn is ended and named, in every later call") {
  check_ended("dies", "Killed");
  check_ended("leaves", "ended with exit code 3");
  check_ended("hangs", "gave no answer within limit_s (100 ms)");
  check_ended("wrong byte", "answered with byte 120, not 33");
  const Pipe twice("twice");
  CHECK(twice.draft({1}).size() == 3);
  CHECK_THROWS_WITH(twice.draft({1}), Contains("spoke without being asked"));
}

TEST_CASE("What cannot start is said when the run starts") {
  CHECK_THROWS_WITH(Pipe("never ready"), Contains("was not ready within start_s (100 ms)"));
  stage::Host host;
  const auto made = [&](const char* command, const char* mode, const char* tree) {
    stage::registry().make<Drafter>(
        "draft_pipe", {{"command", command, "x"}, {"mode", mode, "x"}, {"tree", tree, "x"}}, host);
  };
  CHECK_THROWS_WITH(made("", "row", "false"), Contains("command is empty"));
  CHECK_THROWS_WITH(made("/no/such/program", "row", "false"), Contains("ended with exit code 127"));
  CHECK_THROWS_AS(made("true", "row", "true"), InputError);
}

TEST_CASE("No process is left behind") {
  {
    const Pipe pipe("right");
  }
  {
    const Pipe pipe("hangs", "delta", false, "0.1");
  }
  CHECK_THROWS(Pipe("never ready"));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no child, not even one to be reaped
}
