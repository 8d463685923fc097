// SPDX-License-Identifier: Apache-2.0
#include "trace/writer.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "redline/error.hpp"
#include "trace/check.hpp"
#include "trace/events.hpp"
#include "trace/folder.hpp"
#include "trace/synthetic.hpp"

using namespace redline;
using namespace redline::trace;
using Catch::Matchers::Contains;
using synthetic::Folder;

namespace {

void write_requests(Writer& writer, std::uint32_t count) {
  for (std::uint32_t r = 0; r < count; ++r) {
    for (std::uint32_t s = 0; s < synthetic::steps(r); ++s) {
      writer.step(synthetic::step(r, s, writer.level()));
      writer.batch(synthetic::batch(r, s));
    }
    writer.request(synthetic::request(r));
  }
}

std::uint64_t total_steps(std::uint32_t count) {
  std::uint64_t sum = 0;
  for (std::uint32_t r = 0; r < count; ++r) sum += synthetic::steps(r);
  return sum;
}

// Writes under a limit on file size until it is refused; the exit code says whether request() was
// the one to say so. What was finished is counted through the pipe.
[[noreturn]] void write_until_full(const std::filesystem::path& path, int pipe) {
  const rlimit limit{3'000'000, 3'000'000};
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    Writer writer(path, synthetic::header(Level::TOPK));
    for (std::uint32_t r = 0;; ++r) {
      for (std::uint32_t s = 0; s < synthetic::steps(r); ++s)
        writer.step(synthetic::step(r, s, Level::TOPK));
      writer.request(synthetic::request(r));
      if (write(pipe, ".", 1) != 1) _exit(3);
    }
  } catch (const Error& e) {
    const bool named = std::string(e.what()).find("File too large") != std::string::npos;
    _exit(named ? 0 : 4);
  }
}

}  // namespace

TEST_CASE("Thousands of steps of every level read back and keep the rules") {
  const Level level = GENERATE(Level::COUNTS, Level::CHOSEN, Level::TOPK, Level::FULL);
  const FileFormat format = GENERATE(FileFormat::SWMR, FileFormat::OLD);
  constexpr std::uint32_t kRequests = 400;
  const Folder folder;
  const auto path = folder / trace_file_name(0);
  Writer writer(path, synthetic::header(level), {.format = format});
  write_requests(writer, kRequests);
  writer.close();

  const Reader reader(path);
  REQUIRE(reader.complete());
  REQUIRE(reader.rows("/requests") == kRequests);
  REQUIRE(reader.rows("/steps") == total_steps(kRequests));
  REQUIRE(reader.rows("/batches") == total_steps(kRequests));
  REQUIRE(reader.has("/nodes") == (level >= Level::CHOSEN));
  REQUIRE(reader.has("/logits/target_full") == (level == Level::FULL));
  const CheckResult result = check(reader);
  CHECK(result.violations.empty());
  CHECK(result.unfinished_steps == 0);
}

TEST_CASE("Rows stay in order over the ends of chunks and blocks") {
  constexpr std::uint32_t kSteps = 9000;  // two chunks of /steps, more of /nodes and of wide rows
  const Folder folder;
  Writer writer(folder / "trace-000.h5", synthetic::header(Level::TOPK));
  for (std::uint32_t s = 0; s < kSteps; ++s) writer.step(synthetic::step(1, s, Level::TOPK));
  writer.close();
  const Reader reader(folder / "trace-000.h5");
  const auto seq_step = reader.read<std::uint64_t>("/steps", "seq_step");
  const auto node_start = reader.read<std::uint64_t>("/steps", "node_start");
  const auto token = reader.read<std::int64_t>("/nodes", "token");
  const auto owner = reader.read<std::uint64_t>("/logits/target", "step_row");
  REQUIRE(seq_step.size() == kSteps);
  std::uint64_t row = 0;
  bool in_order = true;
  for (std::uint32_t s = 0; s < kSteps; ++s) {
    in_order = in_order && seq_step[s] == s;
    for (int n = 1; n <= synthetic::nodes(1, s); ++n)
      in_order = in_order && token.at(node_start[s] + n - 1) == synthetic::token(1, s, n);
    for (int n = 0; n <= synthetic::nodes(1, s); ++n) in_order = in_order && owner.at(row++) == s;
  }
  CHECK(in_order);
  CHECK(row == owner.size());
}

TEST_CASE("What was written before the file got its name is readable only under it") {
  const Folder folder;
  Writer writer(folder / "trace-000.h5", synthetic::header(Level::COUNTS));
  REQUIRE(std::filesystem::exists(folder / "trace-000.h5"));
  REQUIRE_FALSE(std::filesystem::exists(folder / "trace-000.h5.new"));
}

TEST_CASE("A trace that exists is never written again") {
  const Folder folder;
  Writer(folder / "trace-000.h5", synthetic::header(Level::COUNTS)).close();
  REQUIRE_THROWS_AS(Writer(folder / "trace-000.h5", synthetic::header(Level::COUNTS)), InputError);
  REQUIRE_THROWS_WITH(Writer(folder / "trace-000.h5", synthetic::header(Level::COUNTS)),
                      Contains("takes the next number"));
}

TEST_CASE("A folder that is not there is an error that names the file") {
  const Folder folder;
  REQUIRE_THROWS_WITH(Writer(folder / "none/trace-000.h5", synthetic::header(Level::COUNTS)),
                      Contains("none/trace-000.h5"));
}

TEST_CASE("A step whose counts disagree is refused by request and numbers") {
  const Folder folder;
  Writer writer(folder / "trace-000.h5", synthetic::header(Level::TOPK));
  StepRecord step = synthetic::step(4, 0, Level::TOPK);  // four nodes
  REQUIRE(step.nodes.size() == 4);
  const auto refused = [&](const std::string& words) {
    REQUIRE_THROWS_WITH(writer.step(step), Contains(words) && Contains("request 5000000035"));
  };
  SECTION("more accepted than drafted") {
    step.accepted_by_rule = 5;
    refused("accepted_by_rule 5 exceeds drafted 4");
  }
  SECTION("more emitted than committed") {
    step.emitted = static_cast<std::uint16_t>(step.committed + 1);
    refused("emitted " + std::to_string(step.emitted) + " exceeds committed " +
            std::to_string(step.committed));
  }
  SECTION("a child before its parent") {
    step.nodes[1].parent = 3;
    refused("node 2 has parent 3");
  }
  SECTION("a depth that skips") {
    step.nodes[1].depth = 3;
    refused("node 2 has depth 3");
  }
  SECTION("accepted nodes of another number") {
    for (NodeRecord& node : step.nodes) node.state = NodeState::REJECTED;
    step.accepted_by_rule = 1;
    refused("accepted_by_rule 1 but 0 nodes accepted");
  }
  SECTION("node records missing") {
    step.nodes.pop_back();
    refused("n_nodes 4 but 3 node records");
  }
  SECTION("a full row of another vocabulary") {
    step.target_rows[0].full.assign(7, 0);
    refused("7 logits in a vocabulary of 50");
  }
  writer.step(synthetic::step(4, 0, Level::TOPK));  // the refusal cost nothing
  writer.close();
}

TEST_CASE("A request whose counts disagree with its tokens is refused") {
  const Folder folder;
  Writer writer(folder / "trace-000.h5", synthetic::header(Level::COUNTS));
  RequestRecord request = synthetic::request(3);
  request.output_tokens.pop_back();
  REQUIRE_THROWS_WITH(writer.request(request), Contains("n_output"));
}

TEST_CASE("A failed step may name its draft without its nodes") {
  const Folder folder;
  {
    Writer writer(folder / "trace-000.h5", synthetic::header(Level::TOPK));
    StepRecord failed = synthetic::step(4, 0, Level::TOPK);
    failed.nodes.clear(), failed.decisions.clear(), failed.target_rows.clear();
    failed.draft_rows.clear();
    failed.accepted_by_rule = failed.committed = failed.emitted = 0;
    writer.step(failed);
    writer.step(synthetic::step(4, 1, Level::TOPK));
    RequestRecord request = synthetic::request(4);
    request.n_steps = 1, request.finish_reason = FinishReason::ERROR, request.error = 1;
    request.output_tokens.resize(synthetic::step(4, 1, Level::TOPK).emitted);
    request.n_output = static_cast<std::uint32_t>(request.output_tokens.size());
    writer.request(request);
    writer.close();
  }
  const Reader reader(folder / "trace-000.h5");
  CHECK(reader.read<std::uint64_t>("/steps", "node_start")[0] == ~std::uint64_t{0});
  CHECK(check(reader).violations.empty());
}

TEST_CASE("A full disk is said at the next call and costs nothing that was finished") {
  const Folder folder;
  const auto path = folder / "trace-000.h5";
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) write_until_full(path, ends[1]);
  close(ends[1]);
  std::uint64_t finished = 0;
  for (char c; read(ends[0], &c, 1) == 1;) ++finished;
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  REQUIRE(finished > 10);

  const Reader reader(path);
  CHECK_FALSE(reader.complete());
  CHECK(reader.rows("/requests") == finished);
  CHECK(check(reader).violations.empty());
}

TEST_CASE("A record after close is an error, closing twice is not") {
  const Folder folder;
  Writer writer(folder / "trace-000.h5", synthetic::header(Level::COUNTS));
  writer.close();
  writer.close();
  REQUIRE_THROWS_WITH(writer.event({}), Contains("after close()"));
}

TEST_CASE("A queue with room for one record loses none, and its waits are an event") {
  const Folder folder;
  std::vector<std::string> warnings;
  Writer writer(
      folder / "trace-000.h5", synthetic::header(Level::TOPK),
      {.queue_bytes = 1, .warn = [&](const std::string& line) { warnings.push_back(line); }});
  write_requests(writer, 200);
  writer.close();
  const Reader reader(folder / "trace-000.h5");
  CHECK(reader.rows("/steps") == total_steps(200));
  CHECK(warnings.size() == (writer.times_blocked() > 0 ? 1 : 0));
  const auto codes = reader.read<std::uint64_t>("/events", "code");
  CHECK(codes ==
        std::vector<std::uint64_t>(warnings.size(), static_cast<std::uint64_t>(Event::QUEUE_FULL)));
}

TEST_CASE("Top-k levels need a k, and full rows a vocabulary") {
  const Folder folder;
  Header header = synthetic::header(Level::FULL);
  header.vocab = 0;
  REQUIRE_THROWS_AS(Writer(folder / "a.h5", header), InputError);
  header.topk = 0;
  REQUIRE_THROWS_WITH(Writer(folder / "a.h5", header), Contains("k must be at least 1"));
}
