// SPDX-License-Identifier: Apache-2.0
// Drafts from a model that was made cheaper: its weights of 4 bits, its head of some tokens alone.
// What they draft from is what the rule is told.
#include <catch2/catch.hpp>
#include <cmath>

#include "device/device.hpp"
#include "engine/engine.hpp"
#include "engine/records.hpp"
#include "engine/savings.hpp"
#include "engine/tiny.hpp"
#include "step/draft_model.hpp"
#include "text/frequencies.hpp"

namespace {

using namespace redline;
using Catch::Matchers::Contains;
using engine::Engine, engine::PluginChoice, engine::Request, engine::Settings;

constexpr std::int32_t kCounted = 150;  // distinct tokens of the frequency file

const plugin::Registry& registry() {
  static const plugin::Registry known({}, {});
  return known;
}

void quiet(const std::string&) {}

// Counts that fall with (7 t) mod V, so that frequent tokens lie all over the vocabulary.
std::string frequencies(const std::string& tokenizer_sha256 = tests::tiny_tokenizer().sha256()) {
  text::Frequencies f{tokenizer_sha256, tests::tiny_tokenizer().vocab(), 1, 0, {}};
  for (std::int32_t k = 0; k < kCounted; ++k) {
    const auto count = static_cast<std::uint64_t>(kCounted - k);
    f.entries.push_back({7 * k % f.vocab, count});
    f.tokens += count;
  }
  const auto path = tests::tiny_folder() / (tokenizer_sha256.substr(0, 8) + ".frequencies.json");
  text::write_frequencies(f, path);
  return path.string();
}

plugin::Arguments arguments(const std::string& requantize, int head_tokens) {
  return {{"model", tests::tiny_model(), "test"},
          {"requantize", requantize, "test"},
          {"head_tokens", std::to_string(head_tokens), "test"},
          {"frequencies", head_tokens ? frequencies() : "", "test"}};
}

Settings settings(PluginChoice draft, const std::string& rule = "accept_match",
                  const std::string& temperature = "0") {
  Settings s;
  s.target = tests::tiny_model();
  s.draft = std::move(draft);
  s.accept = {rule, {}};
  s.sampler = {{"sample_temperature", {{"t", temperature, "test"}}}};
  s.threads = 2;
  s.max_model_len = 256;
  s.cache_folder = tests::tiny_folder();
  return s;
}

Request request() {
  Request r;
  r.key = engine::request_key("test", 33, 0, 0);
  r.seed = 11;
  for (Token k = 0; k < 33; ++k) r.prompt.push_back((k * k * 7 + 3) % 200);
  r.max_tokens = 40;
  r.ignore_eos = true;
  return r;
}

engine::Result run(const Settings& s, trace::Sink& sink) {
  return Engine(s, registry(), quiet).run(request(), sink);
}
engine::Result run(const Settings& s) {
  trace::NoTrace sink;
  return run(s, sink);
}

std::string refusal(plugin::Arguments given, int draft_tp = 1) {
  Settings s = settings({"draft_model", std::move(given)});
  s.draft_tp = draft_tp;
  try {
    Engine(s, registry(), quiet);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no InputError";
}

const std::vector<std::pair<std::string, int>> kSavings = {
    {"q4_0", 0}, {"none", 100}, {"q4_0", 100}};

// A draft model over a decoder, asked for the rows after its text.
struct Drafting {
  Drafting(const std::string& requantize, int head_tokens, const std::string& temperature)
      : device(1, kernels::best()),
        file(files::Gguf::open(tests::tiny_model())),
        decoder(file, device, ranks, options(requantize, head_tokens)),
        pool(decoder.kv_shape(), 8),
        chain(links(temperature)),
        model(decoder, pool, true) {
    for (Token k = 0; k < 20; ++k) text.push_back(k * 5 % 200);
  }
  model::LoadOptions options(const std::string& requantize, int head_tokens) {
    ModelChoice choice;
    choice.requantize = requantize;
    choice.head_tokens = head_tokens;
    choice.frequencies = frequencies();
    savings = engine::savings_of(choice, file);
    model::LoadOptions load;
    load.cache_folder = tests::tiny_folder();
    load.max_rows = 32;
    load.max_positions = 128;
    savings.apply_to(load);
    return load;
  }
  static std::vector<std::unique_ptr<Sampler>> links(const std::string& temperature) {
    Host nobody;
    std::vector<std::unique_ptr<Sampler>> made;
    made.push_back(
        registry().make<Sampler>("sample_temperature", {{"t", temperature, "test"}}, nobody));
    return made;
  }
  redline::Row row() {
    const redline::Sequence seen{1, text, 0, 100, decoder.vocab()};
    if (!model.cache(1)) model.begin(seen, chain);
    const Draft none(decoder.vocab());
    const Ask asks[] = {{seen, none, kRoot}};
    return model.forward(asks).at(0);
  }

  engine::Savings savings;
  device::Device device;
  parallel::Solo ranks;
  files::Gguf file;
  model::Decoder decoder;
  kv::PagePool pool;
  step::Chain chain;
  step::DraftModel model;
  std::vector<Token> text;
};

}  // namespace

TEST_CASE("greedy text from a cheaper draft is the plain text, bit for bit in its logprobs") {
  const auto plain = run(settings({"draft_none", {}}));
  for (const auto& [requantize, head_tokens] : kSavings)
    for (const char* drafter : {"draft_model", "draft_tree"})
      for (const char* rule : {"accept_match", "accept_multiround"}) {
        INFO(requantize << " " << head_tokens << " " << drafter << " " << rule);
        const auto drafted = run(settings({drafter, arguments(requantize, head_tokens)}, rule));
        CHECK(drafted.tokens == plain.tokens);
        CHECK(drafted.logprobs == plain.logprobs);
        CHECK(drafted.counts.accepted_by_rule > 0);
      }
}

TEST_CASE("sampled text under match equals plain decoding of the same seed, whatever is drafted") {
  const auto plain = run(settings({"draft_none", {}}, "accept_match", "0.9"));
  for (const auto& [requantize, head_tokens] : kSavings) {
    const auto drafted =
        run(settings({"draft_model", arguments(requantize, head_tokens)}, "accept_match", "0.9"));
    CHECK(drafted.tokens == plain.tokens);
    CHECK(drafted.counts.drafted > 20);
  }
}

TEST_CASE("no token outside the head is drafted, and the rule is told each one's chance") {
  const std::vector<Token> head = text::read_frequencies(frequencies()).best(100);
  for (const char* drafter : {"draft_model", "draft_tree"}) {
    tests::Records records;
    Settings s = settings({drafter, arguments("q4_0", 100)}, "accept_multiround", "1");
    s.trace_level = trace::Level::CHOSEN;
    run(s, records);
    std::size_t nodes = 0;
    for (const trace::StepRecord& step : records.steps)
      for (const trace::NodeRecord& node : step.nodes) {
        ++nodes;
        CHECK(std::ranges::binary_search(head, static_cast<Token>(node.token)));
        CHECK(std::isfinite(node.q_logprob));
        CHECK(std::isfinite(node.q_raw_logprob));
      }
    CHECK(nodes > 40);
  }
}

TEST_CASE(
    "a row of a short head has chances in it alone, those of the whole row made to sum to 1") {
  for (const char* temperature : {"1", "0.7"}) {
    Drafting some("none", 100, temperature), whole("none", 0, temperature);
    const redline::Row q = some.row(), p = whole.row();
    const std::vector<Token>& head = some.savings.head_tokens;
    double inside = 0, sum = 0;
    for (const Token token : head) inside += p.at(token);
    for (Token token = 0; token < q.vocab(); ++token) {
      const bool is_in = std::ranges::binary_search(head, token);
      if (!is_in) REQUIRE(q.at(token) == 0);
      if (is_in) REQUIRE(q.at(token) == Approx(p.at(token) / inside).epsilon(1e-5));
      sum += q.at(token);
    }
    CHECK(sum == Approx(1).epsilon(1e-12));
    CHECK(inside < 0.9);
    CHECK(std::ranges::binary_search(head, q.argmax()));
    for (double u = 0; u < 1; u += 0.01) REQUIRE(std::ranges::binary_search(head, q.pick(u)));
  }
}

TEST_CASE("at temperature 0 a short head's row is the point of its best token") {
  Drafting some("none", 100, "0"), whole("none", 0, "1");
  const redline::Row q = some.row(), p = whole.row();
  CHECK(q.is_point());
  for (const Token token : some.savings.head_tokens) CHECK(p.at(token) <= p.at(q.argmax()));
}

TEST_CASE("the raw row kept for the trace has no chance outside the head") {
  Drafting some("none", 100, "1"), whole("none", 0, "1");
  some.row(), whole.row();
  const auto raw = some.model.raw(1, {}), all = whole.model.raw(1, {});
  REQUIRE(raw.size() == all.size());
  for (Token token = 0; token < some.decoder.vocab(); ++token)
    REQUIRE(raw[token] == (std::ranges::binary_search(some.savings.head_tokens, token)
                               ? all[token]
                               : -std::numeric_limits<float>::infinity()));
}

TEST_CASE("a cheaper draft on two ranks leaves the text as it is") {
  const auto plain = run(settings({"draft_none", {}}));
  Settings s = settings({"draft_model", arguments("q4_0", 100)});
  s.tp = s.draft_tp = 2;
  const auto drafted = run(s);
  s.draft = {"draft_none", {}};
  CHECK(drafted.tokens == run(s).tokens);
  CHECK(drafted.counts.accepted_by_rule > 0);
}

TEST_CASE("what cannot be made cheaper is refused with the two facts") {
  CHECK(refusal(arguments("q4_0", 100)) == "no InputError");
  CHECK_THAT(refusal({{"model", tests::tiny_model(), "here"}, {"requantize", "q3", "here"}}),
             Contains("requantize") && Contains("q3") && Contains("q4_0"));
  CHECK_THAT(refusal({{"model", tests::tiny_model(), "here"}, {"head_tokens", "9", "here"}}),
             Contains("head_tokens is 9") && Contains("frequencies is empty"));
  CHECK_THAT(refusal(arguments("none", kCounted + 1)),
             Contains("head_tokens is 151") && Contains("only 150 distinct tokens"));
  auto foreign = arguments("none", 9);
  foreign.back().value = frequencies("0123456789abcdef");
  CHECK_THAT(refusal(foreign), Contains("0123456789ab") && Contains("redline frequencies") &&
                                   Contains(tests::tiny_tokenizer().sha256().substr(0, 12)));
  foreign.back().value = "/nowhere.json";
  CHECK_THAT(refusal(foreign), Contains("/nowhere.json"));
  CHECK_THAT(refusal(arguments("none", 16), 2), Contains("16 tokens") && Contains("2 ranks"));
}

TEST_CASE("the trace says what was made cheaper, and from which counts") {
  const Engine engine(settings({"draft_model", arguments("q4_0", 100)}), registry(), quiet);
  std::map<std::string, std::string> told;
  for (const trace::Attributes& group : engine.attributes())
    if (group.group == "/models/draft_0") told = {group.values.begin(), group.values.end()};
  CHECK(told["requantize"] == "q4_0");
  CHECK(told["head_tokens"] == "100");
  CHECK(told["frequencies"] == frequencies());
  CHECK(told["frequencies_sha256"].size() == 64);
}

TEST_CASE("drafters that save alike share a model, others do not") {
  Settings s = settings({"draft_model", arguments("q4_0", 100)});
  const auto drafts = [&] {
    const Engine engine(s, registry(), quiet);
    const auto groups = engine.attributes();
    return std::ranges::count_if(
        groups, [](const auto& group) { return group.group.starts_with("/models/draft_"); });
  };
  s.drafters = {{"draft_tree", arguments("q4_0", 100)}};
  CHECK(drafts() == 1);
  s.drafters.push_back({"draft_tree", arguments("q4_0", 99)});
  CHECK(drafts() == 2);
  s.drafters.push_back({"draft_tree", arguments("none", 100)});
  CHECK(drafts() == 3);
}
