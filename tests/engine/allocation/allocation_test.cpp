// SPDX-License-Identifier: Apache-2.0
// What an iteration costs in memory once it is warm: nothing. The trace's writer thread is exempt,
// for HDF5 works there.
#include <catch2/catch.hpp>
#include <optional>

#include "engine/allocation/counted_new.hpp"
#include "engine/engine.hpp"
#include "engine/tiny.hpp"
#include "trace/writer.hpp"

namespace {

using namespace redline;
using engine::PluginChoice;

constexpr int kSequences = 3, kWarmUp = 100, kSteps = 200, kContext = 2048;

struct Mode {
  const char* name;
  PluginChoice draft, accept;
  const char* temperature;
  const char* top_p = "1";
};

PluginChoice draft_model(const std::string& method) {
  const auto model = tests::small_model(files::TensorType::Q4_0, kContext);
  return {"draft_model", {{"model", model, "test"}, {"method", method, "test"}}};
}

PluginChoice draft_tree(const std::string& method) {
  PluginChoice choice = draft_model(method);
  choice.name = "draft_tree";
  choice.arguments.push_back({"shape", "2;2,1", "test"});
  return choice;
}

const plugin::Registry& registry() {
  static const plugin::Registry known({}, {});
  return known;
}

engine::Settings settings_of(const Mode& mode) {
  engine::Settings s;
  s.target = tests::small_model(files::TensorType::Q8_0, kContext);
  s.draft = mode.draft;
  s.accept = mode.accept;
  s.sampler = {{"sample_temperature", {{"t", mode.temperature, "test"}}},
               {"sample_top_p", {{"p", mode.top_p, "test"}}}};
  s.threads = 2;
  s.max_num_seqs = kSequences;
  s.max_model_len = kContext;
  s.rows_per_step = 64;
  s.cache_folder = tests::tiny_folder();
  return s;
}

engine::Request request(int index) {
  engine::Request r;
  r.key = engine::request_key("allocation", static_cast<std::uint64_t>(index), 0, 0);
  r.seed = 7;
  for (Token k = 0; k < 20 + index; ++k) r.prompt.push_back((k * k * 7 + index) % 200);
  r.max_tokens = kContext - 100;
  r.ignore_eos = true;
  return r;
}

class Traced {  // a trace on disk and the thread that writes it
 public:
  explicit Traced(const engine::Engine& engine) {
    const auto before = tests::threads_of_process();
    path_ = tests::tiny_folder() / "allocation.h5";
    trace::Header header;
    header.topk = 64;
    header.vocab = engine.vocab();
    // Each record waits until the one before it is taken: how far the writer lags behind is chance.
    writer_.emplace(path_, header, trace::WriterOptions{.queue_bytes = 1});
    for (const tests::ThreadId id : tests::threads_of_process())
      if (!before.contains(id)) thread_ = id;
  }
  ~Traced() {
    writer_.reset();
    std::filesystem::remove(path_);
  }
  trace::Sink& sink() { return *writer_; }
  tests::ThreadId thread() const { return thread_; }

 private:
  std::filesystem::path path_;
  std::optional<trace::Writer> writer_;
  tests::ThreadId thread_ = 0;
};

TEST_CASE("a warm step allocates nothing in the engine's thread and its workers") {
  const Mode mode = GENERATE(
      Mode{"plain, greedy", {"draft_none", {}}, {"accept_match", {}}, "0"},
      Mode{"plain, sampled", {"draft_none", {}}, {"accept_match", {}}, "0.8"},
      Mode{"drafted, greedy", draft_model("greedy"), {"accept_match", {}}, "0"},
      Mode{"drafted and sampled, match", draft_model("sample"), {"accept_match", {}}, "0.8"},
      Mode{"drafted and sampled, ratio", draft_model("sample"), {"accept_ratio", {}}, "0.8"},
      Mode{"drafted and sampled, top-p", draft_model("sample"), {"accept_ratio", {}}, "1", "0.9"},
      Mode{"trees, sampled", draft_tree("iid"), {"accept_kseq", {}}, "0.8"},
      Mode{"trees, without replacement", draft_tree("new"), {"accept_traversal", {}}, "0.8"});
  INFO(mode.name);
  engine::Engine engine(settings_of(mode), registry(), [](const std::string&) {});
  Traced traced(engine);
  for (int k = 0; k < kSequences; ++k) engine.submit(request(k), {});
  for (int k = 0; k < kWarmUp; ++k) REQUIRE(engine.iterate(traced.sink()));
  std::int64_t allocations = 0, bytes = 0;
  {
    const tests::NewCount count(traced.thread());
    for (int k = 0; k < kSteps; ++k)
      if (!engine.iterate(traced.sink())) break;
    allocations = count.allocations(), bytes = count.bytes();
    if (allocations > 0) count.print_places();
  }
  INFO(bytes << " bytes in " << kSteps << " steps");
  CHECK(allocations == 0);
  for (int k = 0; k < kSequences; ++k)
    CHECK(engine.cancel(engine::request_key("allocation", static_cast<std::uint64_t>(k), 0, 0)));
}

}  // namespace
