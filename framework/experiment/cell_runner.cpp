// SPDX-License-Identifier: Apache-2.0
#include "experiment/cell_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <set>

#include "experiment/build_facts.hpp"
#include "experiment/progress.hpp"
#include "experiment/prompts.hpp"
#include "experiment/provenance.hpp"
#include "experiment/request_log.hpp"
#include "experiment/run_folder.hpp"
#include "experiment/stop_request.hpp"
#include "experiment/summary.hpp"
#include "files/model_store.hpp"
#include "files/sha256.hpp"
#include "log/log.hpp"
#include "model/follower.hpp"
#include "parallel/mpi_library.hpp"
#include "trace/events.hpp"
#include "trace/writer.hpp"

namespace redline::experiment {
namespace {

using config::Value;
namespace fs = std::filesystem;

constexpr int kPluginFailed = 3;  // exit code

plugin::Registry registry_of(const Cell& cell) {
  std::vector<fs::path> files, folders;
  for (const fs::path& path : cell.plugin_path)
    (fs::is_directory(path) ? folders : files).push_back(path);
  return {files, folders};
}

std::int32_t next_attempt(const fs::path& folder) {
  std::int32_t attempt = 0;
  while (fs::exists(folder / trace::trace_file_name(attempt))) ++attempt;
  return attempt;
}

void check_unchanged(const Cell& cell) {
  for (const DataSetChoice& set : cell.data)
    if (const std::string now = files::sha256_file(set.path); now != set.sha256)
      throw InputError("data set " + set.path.string() + ": its SHA-256 was " + set.sha256 +
                       " when the run began and is " + now + "; start a new run");
}

class CellRun {
 public:
  CellRun(const RunFolder& run, const Cell& cell, model::Ranks* ranks)
      : run_(run),
        cell_(cell),
        folder_(run.of(cell)),
        log_(folder_ / "requests.jsonl"),
        done_(read_requests(folder_ / "requests.jsonl", true)),
        attempt_(next_attempt(folder_)),
        items_(load_items(cell.data)),
        registry_(registry_of(cell)),
        engine_(
            cell.engine, registry_, [this](const std::string& line) { say(line); }, ranks),
        chat_(files::Gguf::open(files::locate_model(cell.engine.target)), cell.chat_template),
        requests_(requests_of(items_, cell, engine_.tokenizer(), chat_)) {
    for (const Finished& f : done_) finished_keys_.insert(f.key);
    engine_.on_stuck_plugin([this](const std::string& what) { give_up(what); });
  }

  int go() {
    trace::Writer writer(folder_ / trace::trace_file_name(attempt_), header(),
                         {.warn = [](const std::string& line) { logging::warn(line); }});
    mark_resumption(writer);
    StepTally trace(writer, engine_.costs());
    const bool whole = warm_up(trace) && run_items(trace);
    writer.close();
    if (!whole) {
      say(cell_.name + ": interrupted; the finished requests are kept, --resume goes on");
      return kInterrupted;
    }
    write_whole(folder_ / "summary.json", config::to_pretty_json(summary()));
    run_.mark_done(cell_);
    return 0;
  }

 private:
  void say(const std::string& line) { narrator_.say(line); }

  // A call that does not end cannot be unwound: the process goes, what was traced stays readable.
  void give_up(const std::string& what) const {
    run_.mark_failed(cell_, what);
    logging::error(cell_.name + " failed: " + what);
    std::_Exit(kPluginFailed);
  }

  trace::Header header() const {
    trace::Header h;
    const Value provenance = config::parse_json(run_.text("provenance.json"), "provenance.json");
    h.run_id = provenance.at("run_id").text();
    h.cell = cell_.name;
    h.attempt = attempt_;
    h.config_yaml = run_.text("config.yaml");
    h.config_resolved = config::to_json(to_value(cell_));
    h.provenance = config::to_json(provenance);
    h.overrides = run_.text("overrides.txt");
    h.config_sha256 = hash_of(cell_);
    h.level = cell_.engine.trace_level;
    h.topk = cell_.engine.trace_topk;
    h.vocab = engine_.vocab();
    h.reproducible = engine_.reproducible();
    h.attributes = engine_.attributes();
    std::map<std::string, std::int64_t> rows;
    for (const Item& item : items_) ++rows[item.data_set];
    std::string names, hashes;
    for (const DataSetChoice& set : cell_.data) {
      names += (names.empty() ? "" : ", ") + set.name;
      hashes += (hashes.empty() ? "" : ", ") + set.sha256;
    }
    h.attributes.push_back(
        {"/dataset",
         {{"name", names}, {"sha256", hashes}, {"rows", std::to_string(items_.size())}}});
    h.categories = categories_of(items_);
    return h;
  }

  // An attempt before this one was cut off: the request it was at is run again from its start.
  void mark_resumption(trace::Sink& trace) {
    if (attempt_ == 0) return;
    const auto event = [&](trace::Event code, std::uint64_t key, double value) {
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      trace.event(
          {now / std::chrono::nanoseconds(1), static_cast<std::uint16_t>(code), key, value});
    };
    event(trace::Event::RESUMED, 0, static_cast<double>(num_done()));
    for (const engine::Request& request : requests_) {
      if (finished_keys_.contains(request.key)) continue;
      event(trace::Event::DISCARDED, request.key, attempt_ - 1);
      break;
    }
    say(cell_.name + ": resumed as attempt " + std::to_string(attempt_) + ", " +
        std::to_string(num_done()) + " of " + std::to_string(items_.size()) + " requests kept");
  }

  std::int64_t num_done() const {
    return std::ranges::count_if(done_, [](const Finished& f) { return !f.is_warmup; });
  }

  bool warm_up(StepTally& trace) {
    for (std::int32_t i = 0; i < cell_.generate.warmup; ++i) {
      const std::size_t at = static_cast<std::size_t>(i) % items_.size();
      submit(items_[at], warmup_of(items_[at], requests_[at], attempt_, i), trace, nullptr);
      if (!drain_to(0, trace)) return false;
    }
    return true;
  }

  // As many requests are under way as the engine runs at once: one ends, the next begins.
  bool run_items(StepTally& trace) {
    Progress progress(cell_.name, static_cast<std::int64_t>(items_.size()), num_done());
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (finished_keys_.contains(requests_[i].key)) continue;
      if (!drain_to(cell_.engine.max_num_seqs - 1, trace)) return false;
      submit(items_[i], requests_[i], trace, &progress);
    }
    return drain_to(0, trace);
  }

  // Runs until so few requests are under way. False: we were asked to stop, and those that were
  // under way are not among the finished ones.
  bool drain_to(std::int32_t count, trace::Sink& trace) {
    while (under_way_ > count) engine_.iterate(trace);
    return !interrupted_;
  }

  void submit(const Item& item, const engine::Request& request, StepTally& trace,
              Progress* progress) {
    ++under_way_;
    engine_.submit(request, {.on_tokens =
                                 [progress](std::span<const Token> tokens) {
                                   if (progress)
                                     progress->tokens(static_cast<std::int64_t>(tokens.size()));
                                 },
                             .cancelled = [this] { return stop_.asked(); },
                             .on_end =
                                 [this, &item, request, &trace, progress](engine::Result result) {
                                   take(item, request, std::move(result), trace.take(request.key),
                                        progress);
                                 }});
  }

  void take(const Item& item, const engine::Request& request, engine::Result result,
            const Tally& tally, Progress* progress) {
    --under_way_;
    if (result.finish == trace::FinishReason::CANCELLED) {
      interrupted_ = true;
      return;
    }
    Finished finished = finished_of(item, request, std::move(result), tally, attempt_);
    if (finished.failed())
      say(cell_.name + ": " + item.data_set + "/" + item.id + " failed: " + finished.error);
    log_.append(finished);
    done_.push_back(std::move(finished));
    if (progress) progress->finished(item.data_set + "/" + item.id);
  }

  Value summary() const {
    Value whole = Value::map();
    whole.put("cell", Value::of(cell_.name)).put("baseline", Value::of(cell_.baseline));
    whole.put("attempts", Value::of(attempt_ + 1));
    for (auto& [key, value] : summary_of(done_).fields) whole.put(key, value);
    whole.put("downgraded", Value::of(engine_.downgraded()));
    whole.put("reproducible", Value::of(engine_.reproducible()));
    whole.put("memory_bytes", Value::of(engine_.memory().total_bytes));
    return whole.put("identity", identity());
  }

  // What must agree before two speeds may be compared.
  Value identity() const {
    Value same = Value::map(), data = Value::list_of({});
    for (const DataSetChoice& set : cell_.data)
      data.items.push_back(Value::of(set.sha256 + ":" + std::to_string(set.offset) + "+" +
                                     std::to_string(set.limit)));
    same.put("build_sha256", Value::of(build_sha256())).put("isa", Value::of(engine_.isa()));
    same.put("tp", Value::of(cell_.engine.tp)).put("draft_tp", Value::of(cell_.engine.draft_tp));
    same.put("threads", Value::of(cell_.engine.threads));
    same.put("machine", machine_facts());
    same.put("target_sha256", Value::of(model_sha256(cell_.engine.target)));
    same.put("tokenizer_sha256", Value::of(engine_.tokenizer().sha256()));
    same.put("template_sha256", Value::of(chat_.sha256())).put("data", std::move(data));
    files::Sha256 settings;
    settings.add(settings_of(cell_));
    return same.put("settings_sha256", Value::of(settings.hex()));
  }

  const RunFolder& run_;
  const Cell& cell_;
  Narrator narrator_;
  StopRequest stop_;  // before the threads of the engine begin, which inherit what it holds back
  fs::path folder_;
  RequestLog log_;  // locks the cell: read after it is ours
  std::vector<Finished> done_;
  std::int32_t attempt_;
  std::vector<Item> items_;
  plugin::Registry registry_;
  engine::Engine engine_;
  text::ChatTemplate chat_;
  std::vector<engine::Request> requests_;
  std::set<std::uint64_t> finished_keys_;
  std::int32_t under_way_ = 0;
  bool interrupted_ = false;
};

// A process that is not rank 0 of its group computes its shards and writes no file.
int follow(parallel::Communicator& world, const engine::Settings& settings) {
  const auto device =
      device::Device::open(settings.device, engine::threads_of_rank(settings), settings.isa);
  model::Follower(world, *device).serve();
  return 0;
}

}  // namespace

int run_cell(const CellOptions& options) {
  if (options.parent) end_with(options.parent);
  const bool own_folder = options.cell.empty();
  const fs::path folder = fs::absolute(options.folder / ".").lexically_normal().parent_path();
  const RunFolder run =
      RunFolder::open(own_folder ? folder.parent_path().parent_path() : options.folder);
  const Cell& cell = run.cell(own_folder ? folder.filename().string() : options.cell);
  if (run.state(cell) == CellState::DONE) {
    Narrator().say(cell.name + ": done already");
    return 0;
  }
  std::unique_ptr<model::Ranks> ranks;  // outlives the run: whatever ends it, the others stop
  if (cell.engine.backend == "mpi") {
    auto world = parallel::open_mpi(engine::time_limit(cell.engine));
    if (world->rank() > 0) return follow(*world, cell.engine);
    ranks = model::Ranks::of_processes(std::move(world));
  }
  run.clear_failure(cell);
  logging::open_file(run.root() / "run.log");
  try {
    check_unchanged(cell);
    return CellRun(run, cell, ranks.get()).go();
  } catch (const std::exception& e) {
    run.mark_failed(cell, e.what());
    logging::info(cell.name + " failed: " + e.what());
    throw;
  }
}

}  // namespace redline::experiment
