// SPDX-License-Identifier: Apache-2.0
// Models, caches and plugins of one run, and the loop that takes requests through them.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/active.hpp"
#include "engine/memory_plan.hpp"
#include "engine/watchdog.hpp"
#include "model/ranks.hpp"
#include "plugin/registry.hpp"
#include "text/tokenizer.hpp"
#include "trace/sink.hpp"

namespace redline::engine {

struct Settings {
  std::string target;  // name or path
  PluginChoice draft{"draft_none", {}}, accept{"accept_match", {}}, length{"length_fixed", {}};
  std::vector<PluginChoice> sampler{{"sample_temperature", {{"t", "0", "default"}}}};
  std::string device = "cpu", isa;     // isa "": the best of this machine
  std::int32_t threads = 0;            // of all ranks here; 0: one a core
  std::int32_t tp = 1, draft_tp = 1;   // ranks of the target, of a draft model
  std::string backend = "threads";     // what ranks are: "threads" here, or "mpi" processes
  double rank_timeout_s = 60;          // a rank that keeps others waiting longer ends the run
  std::vector<PluginChoice> drafters;  // others that requests may name: their models are loaded
  std::int32_t max_model_len = 2048, rows_per_step = 512, max_num_seqs = 1;
  std::int32_t kv_pages = 0;  // of each model's pool; 0: what max_num_seqs needs, or what fits
  kernels::KvType kv_type = kernels::KvType::F16;  // in the pages of target and draft models
  bool huge_pages = true;  // a copy of the weights in them, where the system has some
  bool prefix_cache = false;
  bool cost_table = false;          // known to the trace even when no plugin asks for it
  double memory_utilization = 0.9;  // of the machine's available memory
  Watchdog::Limits plugin_calls;    // beyond the first one is counted, beyond the second stuck
  trace::Level trace_level = trace::Level::TOPK;
  std::int32_t trace_topk = 64;
  bool trace_optimal = false;          // from level chosen on: what any lossless rule keeps at most
  std::filesystem::path cache_folder;  // "": files::cache_folder()
};

int threads_of_rank(const Settings& settings);                   // 0: one a core
std::chrono::milliseconds time_limit(const Settings& settings);  // of a rank

struct PluginFact {               // for the trace and the resolved config
  std::string slot, name, claim;  // slot: draft, accept, length, sampler_0 ...; claim: of a rule
  std::vector<plugin::Parameter> parameters;  // in force
  plugin::Provenance from;
};

class Engine {
 public:
  using Say = std::function<void(const std::string& line)>;  // memory table, progress, warnings
  // InputError, PluginError (pairs that cannot work), DeviceError (the table, when memory is
  // short).
  // ranks: the processes of the backend mpi, and they outlive the engine; threads are its own.
  Engine(const Settings& settings, const plugin::Registry& registry, const Say& say,
         model::Ranks* ranks = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;  // plugins and leases hold its address

  const text::Tokenizer& tokenizer() const;
  const MemoryPlan& memory() const;
  std::vector<PluginFact> plugins() const;
  std::vector<trace::Attributes> attributes() const;  // /models and /plugins of a trace
  const Costs& costs() const;                         // of forwards, where they were measured
  bool reproducible() const;                          // its length policy reads no clock
  bool downgraded() const;                            // the draft is verified as deltas
  std::string isa() const;
  std::int32_t vocab() const;

  // Takes a request in; it waits for its turn. InputError, PluginError: one that cannot be served.
  void submit(Request request, Listener listener);
  bool cancel(std::uint64_t request_key);  // false: no such request, or it has ended
  bool iterate(trace::Sink& sink);         // one step over many; false: nothing is left to do
  // Told, on another thread, of a plugin's call that does not end: the run cannot go on.
  void on_stuck_plugin(Say stuck);
  bool preempt(trace::Sink& sink);  // as when pages run out; false: none runs
  std::int32_t free_pages() const;  // of the target's pool, cached prefixes among them
  std::int64_t held_pages() const;  // of all pools, by requests that have not ended
  // One request from start to end, others taken in before it beside it.
  Result run(Request request, trace::Sink& sink,
             std::function<void(std::span<const Token>)> on_tokens = {},
             std::function<bool()> cancelled = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::engine
