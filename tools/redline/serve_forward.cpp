// SPDX-License-Identifier: Apache-2.0
#include "redline/serve_forward.hpp"

#include <cstdio>
#include <iostream>
#include <sstream>

#include "redline/error.hpp"

namespace redline::tool {
namespace {

files::json::object timed(ForwardBench& bench, ForwardKind kind, int rows, int repeats) {
  const bool is_prompt = kind == ForwardKind::PROMPT;  // long: a row wakes the threads as well
  bench.ns(is_prompt ? ForwardKind::CHAIN : kind, is_prompt ? 1 : rows);
  files::json::array ms;
  for (int repeat = 0; repeat < repeats; ++repeat) ms.push_back(bench.ns(kind, rows) / 1e6);
  files::json::object answer{{"ms", ms}};
  if (!is_prompt) {
    answer["roofline_ms"] = bench.roofline_ns(rows) / 1e6;
    answer["roofline_now_ms"] = bench.roofline_now_ns(rows) / 1e6;
  }
  return answer;
}

files::json::object answer(ForwardBench& bench, const std::string& line) {
  std::istringstream words(line);
  std::string name;
  int rows = 0, repeats = 0;
  words >> name;
  if (name == "limits") {
    bench.probe();
    return limits_json(bench.best());
  }
  const auto kind = forward_kind(name);
  if (!kind || !(words >> rows >> repeats) || repeats < 1)
    throw InputError("expected chain, tree or prompt with rows and repeats, or limits, got: " +
                     line);
  return timed(bench, *kind, rows, repeats);
}

void say(const files::json::object& object) {
  std::printf("%s\n", files::json::serialize(object).c_str());
  std::fflush(stdout);
}

}  // namespace

files::json::object limits_json(const model::Limits& limits) {
  return {{"read_bytes", limits.read_bytes},
          {"multiply_adds", limits.multiply_adds},
          {"fmas", limits.fmas}};
}

files::json::object described(ForwardBench& bench, const BenchForwardOptions& options) {
  return {{"model", options.model.model},
          {"isa", std::string(bench.isa())},
          {"threads", bench.threads()},
          {"context", options.context},
          {"load_seconds", bench.load_seconds()},
          {"weight_bytes", bench.work().weight_bytes},
          {"multiply_adds_a_row", bench.work().multiply_adds_a_row}};
}

int serve_forward(ForwardBench& bench, const BenchForwardOptions& options) {
  bench.probe();
  say(described(bench, options));
  for (std::string line; std::getline(std::cin, line);) {
    try {
      say(answer(bench, line));
    } catch (const InputError& mistake) {
      say({{"error", mistake.what()}});
    }
  }
  return 0;
}

}  // namespace redline::tool
