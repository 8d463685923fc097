// SPDX-License-Identifier: Apache-2.0
#include "experiment/request_log.hpp"

#include <catch2/catch.hpp>

#include "experiment/scratch.hpp"
#include "experiment/summary.hpp"

using namespace redline;
using namespace redline::experiment;

namespace {

Finished request(std::uint64_t key) {
  Finished f;
  f.key = key, f.data_set = "d", f.id = "a \"b\"", f.category = "c";
  f.num_prompt = 3, f.prompt_head = {1, 2, 3};
  f.finish = "length", f.text = "t\n€";
  f.tokens = {5, 6, 7, 8, 9}, f.margins = {0.5f, 1.25f, 0, 3, 0.1f};
  f.counts = {6, 3, 6, 5, 2, 2};
  f.drafted_per_step = {3, 3}, f.accepted_per_step = {1, 2};
  f.times = {{10'000'000, 1}, {14'000'000, 2}, {20'000'000, 2}};  // 10 ms, then 4 and 6
  f.draft_ns = 2'000'000, f.target_ns = 5'000'000;
  return f;
}

}  // namespace

TEST_CASE("A finished request is one line that reads back whole") {
  const Finished before = request(~0ULL);
  const std::string line = to_line(before);
  CHECK(line.find('\n') == std::string::npos);
  const Finished after = read_line(config::parse_json(line, "r"));
  CHECK(to_line(after) == line);
  CHECK(after.key == ~0ULL);
  CHECK(after.margins == before.margins);
  CHECK(after.text == before.text);
}

TEST_CASE("A torn last line is cut off, what stands before it stays") {
  const Scratch scratch;
  {
    RequestLog log(scratch / "r.jsonl");
    log.append(request(1));
    log.append(request(2));
  }
  const auto whole = std::filesystem::file_size(scratch / "r.jsonl");
  std::ofstream(scratch / "r.jsonl", std::ios::app) << "{\"key\":3,\"da";
  CHECK(read_requests(scratch / "r.jsonl").size() == 2);
  CHECK(read_requests(scratch / "r.jsonl", true).size() == 2);
  CHECK(std::filesystem::file_size(scratch / "r.jsonl") == whole);
  CHECK(read_requests(scratch / "none").empty());
}

TEST_CASE("The duration is the time in which some request was under way, on each attempt's clock") {
  std::vector<Finished> requests{request(1), request(2), request(3)};
  requests[1].start_ns = 5'000'000;  // beside the first, which ends at 20 ms
  requests[2].attempt = 1;           // its clock has begun anew
  CHECK(config::get(summary_of(requests), "duration")->number(0, 1e12) == Approx(0.045));
}

TEST_CASE("The summary's latencies follow their definitions") {
  std::vector<Finished> requests{request(1), request(2), request(3), request(4)};
  requests[1].is_warmup = true;
  requests[2].finish = "error";
  requests[3].start_ns = 25'000'000;  // 5 ms after the first has ended
  const config::Value s = summary_of(requests);
  const auto number = [&](const char* path) { return config::get(s, path)->number(0, 1e12); };
  CHECK(number("completed") == 2);
  CHECK(number("failed") == 1);
  CHECK(number("total_output_tokens") == 10);
  CHECK(number("duration") == Approx(0.040));
  CHECK(number("output_throughput") == Approx(250));
  CHECK(number("mean_ttft_ms") == Approx(10));
  CHECK(number("mean_tpot_ms") == Approx(2.5));
  CHECK(number("mean_itl_ms") == Approx(5));                   // per step
  CHECK(number("spec.mean_token_latency_ms") == Approx(2.5));  // per token
  CHECK(number("spec.p50_token_latency_ms") == Approx(2.5));
  CHECK(number("mean_e2el_ms") == Approx(20));
  CHECK(number("spec.draft_share") == Approx(0.2));
  CHECK(number("spec.target_share") == Approx(0.5));
  CHECK(number("spec.mean_acceptance_length") == Approx(2.5));
  CHECK(number("spec_decode_acceptance_rate") == Approx(50));
  CHECK(number("spec.drafted") == 12);
}

TEST_CASE("A summary of nothing holds nulls, not infinities") {
  const config::Value s = summary_of({});
  CHECK(!s.find("output_throughput")->exists());
  CHECK(!s.find("mean_ttft_ms")->exists());
  CHECK(!config::get(s, "spec.draft_acceptance_rate")->exists());
  CHECK(config::to_json(s).find("nan") == std::string::npos);
}
