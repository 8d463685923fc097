// SPDX-License-Identifier: Apache-2.0
// Models, caches and plugins of one run, and the loop that takes requests through them.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/memory_plan.hpp"
#include "engine/request.hpp"
#include "plugin/registry.hpp"
#include "text/tokenizer.hpp"
#include "trace/sink.hpp"

namespace redline::engine {

struct PluginChoice {
  std::string name;
  plugin::Arguments arguments;
};

struct Settings {
  std::string target;  // name or path
  PluginChoice draft{"draft_none", {}}, accept{"accept_match", {}}, length{"length_fixed", {}};
  std::vector<PluginChoice> sampler{{"sample_temperature", {{"t", "0", "default"}}}};
  std::string device = "cpu", isa;  // isa "": the best of this machine
  std::int32_t threads = 0;         // 0: one a core
  std::int32_t max_model_len = 2048, rows_per_step = 512, max_num_seqs = 1;
  double memory_utilization = 0.9;  // of the machine's available memory
  trace::Level trace_level = trace::Level::TOPK;
  std::int32_t trace_topk = 64;
  std::filesystem::path cache_folder;  // "": files::cache_folder()
};

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
  Engine(const Settings& settings, const plugin::Registry& registry, const Say& say);
  ~Engine();
  Engine(const Engine&) = delete;  // plugins and leases hold its address

  const text::Tokenizer& tokenizer() const;
  const MemoryPlan& memory() const;
  std::vector<PluginFact> plugins() const;
  std::vector<trace::Attributes> attributes() const;  // /models and /plugins of a trace
  bool downgraded() const;                            // the draft is verified as deltas
  std::string isa() const;
  std::int32_t vocab() const;

  // One request from start to end. `on_tokens` sees each emitted token as it is committed. When
  // `cancelled` returns true between steps the request ends as CANCELLED.
  Result run(const Request& request, trace::Sink& sink,
             const std::function<void(std::span<const Token>)>& on_tokens = {},
             const std::function<bool()>& cancelled = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::engine
