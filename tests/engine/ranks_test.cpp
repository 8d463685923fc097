// SPDX-License-Identifier: Apache-2.0
// The engine over ranks: the text depends on no draft, and rank 0 alone decides it.
#include "model/ranks.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <thread>

#include "engine/engine.hpp"
#include "engine/tiny.hpp"
#include "model/follower.hpp"
#include "parallel/relay.hpp"
#include "parallel/threads.hpp"

namespace {

using namespace redline;
using Catch::Matchers::Contains;
using engine::Engine, engine::PluginChoice, engine::Request, engine::Settings;
using files::TensorType;
using parallel::Communicator;

const plugin::Registry& registry() {
  static const plugin::Registry known({}, {});
  return known;
}

std::string model_of(std::int32_t heads, std::int32_t kv_heads, TensorType type) {
  const auto path =
      ::tests::tiny_folder() / ("ranks-" + std::to_string(heads) + "-" + std::to_string(kv_heads) +
                                "-" + std::to_string(static_cast<int>(type)) + ".gguf");
  model::TinySpec spec{.type = type};
  spec.heads = heads, spec.kv_heads = kv_heads, spec.hidden = heads * 32, spec.feed_forward = 288;
  if (!std::filesystem::exists(path)) model::write_tiny_model(spec, path);
  return path.string();
}

Settings settings(std::int32_t heads, std::int32_t kv_heads, int tp) {
  Settings s;
  s.target = model_of(heads, kv_heads, TensorType::Q8_0);
  s.threads = 1;
  s.max_model_len = 128;
  s.rows_per_step = 32;
  s.tp = tp;
  s.cache_folder = ::tests::tiny_folder();
  return s;
}

Request request(std::int32_t max_tokens = 40) {
  Request r;
  r.key = engine::request_key("ranks", 1, 0, 0);
  r.seed = 11;
  for (Token k = 0; k < 21; ++k) r.prompt.push_back((k * k * 7 + 3) % 200);
  r.max_tokens = max_tokens;
  r.ignore_eos = true;
  r.logprobs = 2;
  return r;
}

engine::Result run(const Settings& s, const Request& r = request(), model::Ranks* ranks = nullptr) {
  trace::NoTrace sink;
  return Engine(s, registry(), [](const std::string&) {}, ranks).run(r, sink);
}

void check_degree(std::int32_t heads, std::int32_t kv_heads, int tp, int draft_tp) {
  for (const char* temperature : {"0", "0.9"}) {
    CAPTURE(tp, draft_tp, temperature);
    Settings s = settings(heads, kv_heads, tp);
    s.sampler = {{"sample_temperature", {{"t", temperature, "test"}}}};
    const engine::Result plain = run(s);
    REQUIRE(plain.tokens.size() == 40);
    s.draft_tp = draft_tp;
    const std::string& draft = s.target;  // agrees but for the rounding of its degree
    for (const PluginChoice& choice : {PluginChoice{"draft_ngram", {}},
                                       PluginChoice{"draft_model", {{"model", draft, "test"}}}}) {
      s.draft = choice;
      const engine::Result found = run(s);
      CHECK(found.tokens == plain.tokens);
      CHECK(found.logprobs == plain.logprobs);
      const bool agrees = choice.name == "draft_model" && s.sampler[0].arguments[0].value == "0";
      if (agrees) CHECK(found.counts.accepted_by_rule > found.counts.drafted / 2);
    }
  }
}

// Adds to what rank 1 brings of the logits, or waits before it brings the n-th.
class Gathering final : public redline::tests::Relay {
 public:
  Gathering(std::unique_ptr<Communicator> to, std::function<void(std::vector<float>&)> change)
      : Relay(std::move(to)), change_(std::move(change)) {}
  void gather(std::span<const float> mine, std::span<const std::int64_t> counts,
              std::span<float> all, int root) override {
    std::vector<float> changed(mine.begin(), mine.end());
    change_(changed);
    Relay::gather(changed, counts, all, root);
  }
  std::unique_ptr<Communicator> first(int ranks) override {
    return std::make_unique<Gathering>(Relay::first(ranks), change_);
  }

 private:
  std::function<void(std::vector<float>&)> change_;
};

// Keeps every order that comes by.
class Listening final : public redline::tests::Relay {
 public:
  Listening(std::unique_ptr<Communicator> to, std::vector<std::vector<std::byte>>& heard)
      : Relay(std::move(to)), heard_(heard) {}
  void broadcast(std::vector<std::byte>& message, int root, parallel::Patience patience) override {
    Relay::broadcast(message, root, patience);
    heard_.push_back(message);
  }

 private:
  std::vector<std::vector<std::byte>>& heard_;
};

// Followers that listen, and of which rank 1 changes its logits.
class ChangedRanks final : public model::Ranks {
 public:
  ChangedRanks(int ranks, std::function<void(std::vector<float>&)> change,
               std::chrono::milliseconds limit)
      : heard(ranks), group_(ranks, limit), lead_(std::in_place, group_.at(0)) {
    for (int rank = 1; rank < ranks; ++rank)
      followers_.emplace_back([this, rank, ranks, change] {
        device::Device device(1, kernels::best());
        auto world = group_.at(rank).first(ranks);
        if (rank == 1) world = std::make_unique<Gathering>(std::move(world), change);
        Listening listening(std::move(world), heard[rank]);
        try {
          model::Follower(listening, device).serve();
        } catch (const std::exception&) {  // rank 0 throws it
        }
      });
  }
  ~ChangedRanks() override { stop(); }
  void stop() {
    lead_.reset();
    for (std::thread& follower : followers_) follower.join();
    followers_.clear();
  }
  model::Lead& lead() override { return *lead_; }

  std::vector<std::vector<std::vector<std::byte>>> heard;  // [ranks][orders]

 private:
  parallel::ThreadGroup group_;
  std::optional<model::Lead> lead_;
  std::vector<std::thread> followers_;
};

// The token last fed at each position.
std::map<std::int32_t, Token> fed(const std::vector<std::vector<std::byte>>& orders) {
  std::map<std::int32_t, Token> tokens;
  for (const auto& message : orders) {
    files::ByteCursor cursor(message, "order");
    if (cursor.read<model::Order>("order") != model::Order::FORWARD) continue;
    cursor.read<std::uint32_t>("model");
    std::vector<model::Moved> moved;
    model::read_list(cursor, moved, "copies");
    std::vector<model::Row> rows;
    model::read_list(cursor, rows, "rows");
    for (const model::Row& row : rows) tokens[row.position] = row.token;
  }
  return tokens;
}

}  // namespace

TEST_CASE("At every degree text and logprobs are plain decoding's, whatever drafts") {
  check_degree(8, 4, 1, 2);
  check_degree(8, 4, 2, 1);
  check_degree(8, 4, 4, 2);
  check_degree(8, 4, 8, 8);
  check_degree(9, 3, 3, 3);
}

TEST_CASE("A rank whose logits are off by 1e-3 changes no rank's mind: all follow rank 0") {
  Settings s = settings(8, 4, 3 + 1);
  s.max_model_len = 1024;
  int sign = 1;
  ChangedRanks ranks(
      4,
      [&sign](std::vector<float>& logits) {
        for (float& logit : logits) logit += 1e-3f * static_cast<float>(sign = -sign);
      },
      redline::tests::kPatient);
  const engine::Result result = run(s, request(1000), &ranks);
  ranks.stop();
  REQUIRE(result.tokens.size() == 1000);
  std::vector<Token> committed = request().prompt;
  committed.insert(committed.end(), result.tokens.begin(), result.tokens.end() - 1);
  for (int rank = 1; rank < 4; ++rank) {
    CHECK(ranks.heard[rank] == ranks.heard[1]);
    std::vector<Token> found;
    for (const auto& [position, token] : fed(ranks.heard[rank])) found.push_back(token);
    CHECK(found == committed);
  }
}

TEST_CASE("A rank that fails or stalls in mid-text ends the run within the limit, named") {
  const bool stalls = GENERATE(false, true);
  int left = 20;
  ChangedRanks ranks(
      2,
      [&](std::vector<float>&) {
        if (--left > 0) return;
        if (!stalls) throw Error("a broken shard");
        std::this_thread::sleep_for(4 * redline::tests::kImpatient);
      },
      redline::tests::kImpatient);
  CHECK_THROWS_WITH(run(settings(8, 4, 2), request(), &ranks),
                    Contains(stalls ? "rank 1 did not reach gather" : "rank 1 failed: a broken"));
}

TEST_CASE("Degrees that the model or the ranks cannot have are refused before weights are read") {
  CHECK_THROWS_WITH(run(settings(8, 4, 3)), Contains("degrees that work: 1, 2, 4, 8"));
  Settings s = settings(8, 4, 2);
  s.draft_tp = 3;
  s.draft = {"draft_model", {{"model", model_of(8, 4, TensorType::Q4_0), "test"}}};
  CHECK_THROWS_WITH(run(s), Contains("degree 3"));
  ChangedRanks ranks(4, [](std::vector<float>&) {}, redline::tests::kPatient);
  CHECK_THROWS_WITH(run(settings(8, 4, 2), request(), &ranks), Contains("4 ranks"));
  s.backend = "mpi";
  CHECK_THROWS_WITH(run(s), Contains("mpirun"));
}

TEST_CASE("The memory table shows what each rank needs") {
  const auto table = [](int tp) {
    return Engine(settings(8, 4, tp), registry(), [](const std::string&) {}).memory();
  };
  const engine::MemoryPlan whole = table(1), shared = table(4);
  CHECK(whole.items.size() == 4);
  REQUIRE(shared.items.size() == 13);
  CHECK(shared.items[3].what == "target on rank 1 weights");
  CHECK(shared.items[3].bytes < whole.items[0].bytes * 0.3);
  CHECK(shared.items[4].bytes == whole.items[1].bytes / 4);  // a KV head each
}
