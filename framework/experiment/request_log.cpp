// SPDX-License-Identifier: Apache-2.0
#include "experiment/request_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <thread>

#include "experiment/score.hpp"

namespace redline::experiment {
namespace {

using config::Value;

constexpr std::array<std::string_view, 5> kFinish{"stop", "length", "context", "error",
                                                  "cancelled"};
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

template <class T>
Value numbers(const std::vector<T>& values) {
  Value list = Value::list_of({});
  list.items.reserve(values.size());
  for (const T v : values) {
    if constexpr (std::is_floating_point_v<T>) {
      list.items.push_back(Value::of(static_cast<double>(v)));
    } else {
      list.items.push_back(Value::of(v));
    }
  }
  return list;
}

template <class T>
std::vector<T> read_numbers(const Value& list) {
  std::vector<T> values;
  for (const Value& v : list.list()) {
    if constexpr (std::is_floating_point_v<T>) {
      values.push_back(v.exists() ? static_cast<T>(v.number(-1e300, 1e300))
                                  : std::numeric_limits<T>::quiet_NaN());
    } else {
      values.push_back(
          static_cast<T>(v.integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
    }
  }
  return values;
}

Value counts_value(const engine::Counts& c) {
  Value map = Value::map();
  map.put("drafted", Value::of(c.drafted)).put("accepted_by_rule", Value::of(c.accepted_by_rule));
  map.put("committed", Value::of(c.committed)).put("emitted", Value::of(c.emitted));
  return map.put("steps", Value::of(c.steps)).put("drafting_steps", Value::of(c.drafting_steps));
}

engine::Counts read_counts(const Value& map) {
  return {map.at("drafted").natural(),   map.at("accepted_by_rule").natural(),
          map.at("committed").natural(), map.at("emitted").natural(),
          map.at("steps").natural(),     map.at("drafting_steps").natural()};
}

Value tally_value(const Tally& t) {
  Value map = Value::map();
  map.put("steps", Value::of(t.foretold_steps)).put("kept", Value::of(t.kept));
  return map.put("expected", Value::of(t.foretold)).put("cost_ns", Value::of(t.cost_ns));
}

Tally read_tally(const Value& map) {
  return {map.at("steps").natural(), map.at("kept").natural(), map.at("expected").number(0, 1e300),
          map.at("cost_ns").number(0, 1e300)};
}

Value times_value(const std::vector<engine::StepTime>& times) {
  Value list = Value::list_of({});
  for (const engine::StepTime& t : times)
    list.items.push_back(Value::list_of({Value::of(t.end_ns), Value::of(t.emitted)}));
  return list;
}

void repair_tail(const std::filesystem::path& file, std::uintmax_t whole_bytes) {
  std::error_code error;
  std::filesystem::resize_file(file, whole_bytes, error);
  if (error) throw Error(file.string() + ": cannot cut its torn last line: " + error.message());
}

}  // namespace

Finished finished_of(const Item& item, const engine::Request& request, engine::Result result,
                     const Tally& tally, std::int32_t attempt) {
  Finished f;
  f.key = request.key;
  f.data_set = item.data_set, f.id = item.id, f.category = item.category;
  f.is_warmup = request.is_warmup;
  f.attempt = attempt;
  f.num_prompt = static_cast<std::int32_t>(request.prompt.size());
  f.prompt_head.assign(request.prompt.begin(),
                       request.prompt.begin() + std::min<std::size_t>(16, request.prompt.size()));
  f.finish = kFinish.at(static_cast<std::size_t>(result.finish));
  f.error = std::move(result.error);
  f.text = std::move(result.text);
  if (!item.reference.empty()) f.score = score_json_fields(item.reference, f.text);
  f.tally = tally;
  f.tokens = std::move(result.tokens);
  f.margins = std::move(result.margins);
  f.counts = result.counts;
  f.drafted_per_step = std::move(result.drafted_per_step);
  f.accepted_per_step = std::move(result.accepted_per_step);
  f.times = std::move(result.times);
  f.start_ns = result.start_ns;
  for (engine::StepTime& t : f.times) t.end_ns -= result.start_ns;
  f.draft_ns = result.draft_ns, f.target_ns = result.target_ns, f.verify_ns = result.verify_ns;
  f.sample_ns = result.sample_ns, f.kv_ns = result.kv_ns;
  return f;
}

std::string to_line(const Finished& f) {
  Value line = Value::map();
  line.put("key", Value::of(f.key)).put("data_set", Value::of(f.data_set));
  line.put("id", Value::of(f.id)).put("category", Value::of(f.category));
  line.put("is_warmup", Value::of(f.is_warmup)).put("attempt", Value::of(f.attempt));
  line.put("num_prompt", Value::of(f.num_prompt)).put("prompt_head", numbers(f.prompt_head));
  line.put("finish", Value::of(f.finish)).put("error", Value::of(f.error));
  line.put("text", Value::of(f.text)).put("tokens", numbers(f.tokens));
  line.put("margins", numbers(f.margins)).put("counts", counts_value(f.counts));
  line.put("drafted_per_step", numbers(f.drafted_per_step));
  line.put("accepted_per_step", numbers(f.accepted_per_step));
  line.put("start_ns", Value::of(f.start_ns)).put("times_ns", times_value(f.times));
  line.put("draft_ns", Value::of(f.draft_ns)).put("target_ns", Value::of(f.target_ns));
  line.put("verify_ns", Value::of(f.verify_ns)).put("sample_ns", Value::of(f.sample_ns));
  line.put("tally", tally_value(f.tally));
  line.put("score", f.score ? Value::of(*f.score) : Value{});
  return config::to_json(line.put("kv_ns", Value::of(f.kv_ns)));
}

Finished read_line(const Value& line) {
  Finished f;
  f.key = line.at("key").natural();
  f.data_set = line.at("data_set").text();
  f.id = line.at("id").text(), f.category = line.at("category").text();
  f.is_warmup = line.at("is_warmup").boolean();
  f.attempt = line.at("attempt").integer(0, 1 << 20);
  f.num_prompt = line.at("num_prompt").integer(0, 1 << 30);
  f.prompt_head = read_numbers<Token>(line.at("prompt_head"));
  f.finish = line.at("finish").text(), f.error = line.at("error").text();
  f.text = line.at("text").text();
  f.tokens = read_numbers<Token>(line.at("tokens"));
  f.margins = read_numbers<float>(line.at("margins"));
  f.counts = read_counts(line.at("counts"));
  f.drafted_per_step = read_numbers<std::uint16_t>(line.at("drafted_per_step"));
  f.accepted_per_step = read_numbers<std::uint16_t>(line.at("accepted_per_step"));
  f.start_ns = line.at("start_ns").integer(0, kMost);
  for (const Value& t : line.at("times_ns").list()) {
    if (t.list().size() != 2) t.refuse("must hold a time and a count");
    f.times.push_back(
        {t.items[0].integer(0, kMost), static_cast<std::int32_t>(t.items[1].integer(0, 1 << 20))});
  }
  f.draft_ns = line.at("draft_ns").integer(0, kMost);
  f.target_ns = line.at("target_ns").integer(0, kMost);
  f.verify_ns = line.at("verify_ns").integer(0, kMost);
  f.sample_ns = line.at("sample_ns").integer(0, kMost);
  f.kv_ns = line.at("kv_ns").integer(0, kMost);
  if (const Value* tally = line.find("tally")) f.tally = read_tally(*tally);
  if (const Value* score = line.find("score"); score && score->exists())
    f.score = score->number(0, 1);
  if (f.drafted_per_step.size() != f.accepted_per_step.size())
    line.refuse("must count drafted and accepted of the same steps");
  return f;
}

std::vector<Finished> read_requests(const std::filesystem::path& file, bool repair) {
  std::vector<Finished> found;
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::int64_t number = 0;
  std::size_t from = 0;
  for (std::size_t end; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
    const std::string where = file.string() + ":" + std::to_string(++number);
    const std::string_view line = std::string_view(text).substr(from, end - from);
    found.push_back(read_line(config::parse_json(line, where)));
  }
  if (repair && from < text.size()) repair_tail(file, from);
  return found;
}

RequestLog::RequestLog(const std::filesystem::path& file)
    : file_(file),
      descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw Error(file.string() + ": cannot be written: " + std::strerror(errno));
  // A process that was told to stop may need a moment to finish its step.
  constexpr int kMostTries = 100;
  for (int tries = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (tries == kMostTries) {
      ::close(descriptor_);
      throw InputError(file.string() +
                       ": another process is running this cell; wait for it, or "
                       "end it");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

RequestLog::~RequestLog() { ::close(descriptor_); }

void RequestLog::append(const Finished& finished) {
  const std::string line = to_line(finished) + "\n";
  const ssize_t written = ::write(descriptor_, line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size()))
    throw Error(file_.string() + ": wrote " + std::to_string(written) + " of " +
                std::to_string(line.size()) + " bytes: " + std::strerror(errno));
}

}  // namespace redline::experiment
