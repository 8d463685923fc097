// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include <algorithm>
#include <thread>

#include "engine/engine_host.hpp"
#include "engine/load_report.hpp"
#include "engine/loop.hpp"
#include "files/model_store.hpp"
#include "log/log.hpp"

namespace redline::engine {
namespace {

constexpr std::int64_t kTraceQueueBytes = 64 << 20;

// A sequence at its longest and the widest draft a forward takes.
std::int32_t pages_of_one(const Settings& s) {
  return (s.max_model_len + s.rows_per_step) / kv::kPageTokens + 1;
}

std::string_view reads_text(Reads reads) {
  constexpr std::string_view kNames[] = {"history", "batch", "clock"};
  return kNames[static_cast<std::size_t>(reads)];
}

std::string_view claim_text(Claim claim) {
  switch (claim) {
    case Claim::CONDITIONALLY_LOSSLESS:
      return "conditionally lossless";
    case Claim::MARGINALLY_LOSSLESS:
      return "marginally lossless";
    case Claim::APPROXIMATE:
      return "approximate";
  }
  return "unknown";
}

void check(const Settings& s, const model::Shape& target) {
  const auto refuse = [](const std::string& key, std::int64_t value, const std::string& why) {
    throw InputError("engine." + key + " is " + std::to_string(value) + ", " + why);
  };
  if (s.max_num_seqs < 1) refuse("max_num_seqs", s.max_num_seqs, "must be at least 1");
  if (s.rows_per_step < 1) refuse("rows_per_step", s.rows_per_step, "must be at least 1");
  if (s.max_model_len > target.context)
    refuse("max_model_len", s.max_model_len,
           "the target was trained for " + std::to_string(target.context) +
               " tokens; lower max_model_len");
  if (s.kv_pages != 0 && s.kv_pages < pages_of_one(s))
    refuse("kv_pages", s.kv_pages,
           "one sequence of max_model_len with the widest draft takes " +
               std::to_string(pages_of_one(s)) + " pages; raise kv_pages or lower max_model_len");
}

int ranks_of(const Settings& s) { return std::max(s.tp, s.draft_tp); }

std::unique_ptr<model::Ranks> rank_threads(const Settings& s, device::Device& device) {
  if (s.backend != "threads")
    throw InputError("parallel.backend is " + s.backend +
                     ", and this program is no process of a group; run the cell under mpirun, or "
                     "choose the backend threads");
  return model::Ranks::of_threads(std::max(1, ranks_of(s)), device.pool().threads(),
                                  device.ops().isa, time_limit(s));
}

void check_ranks(const Settings& s, int ranks) {
  if (s.tp < 1 || s.draft_tp < 1 || ranks != ranks_of(s))
    throw InputError("engine.tp is " + std::to_string(s.tp) + " and engine.draft_tp " +
                     std::to_string(s.draft_tp) + ", the run has " + std::to_string(ranks) +
                     " ranks; start as many processes as the larger of the two");
}

}  // namespace

// The cores are shared out evenly: a rank waits for the slowest.
int threads_of_rank(const Settings& s) {
  const int ranks = ranks_of(s);
  if (ranks <= 1) return s.threads;
  const int all = s.threads > 0 ? s.threads : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, all / ranks);
}

std::chrono::milliseconds time_limit(const Settings& s) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(s.rank_timeout_s * 1000));
}

struct Engine::Impl {
  Impl(const Settings& s, const plugin::Registry& r, model::Ranks* processes)
      : settings(s),
        registry(r),
        target_file(files::Gguf::open(files::locate_model(s.target))),
        shape(model::shape_of(target_file)),
        tokenizer(target_file),
        device(device::Device::open(s.device, threads_of_rank(s), s.isa)),
        threads(processes ? nullptr : rank_threads(s, *device)),
        lead((processes ? *processes : *threads).lead()),
        host(registry, shape, tokenizer, s.draft_tp, ranks_of(s)),
        watchdog(s.plugin_calls, &logging::warn),
        strategies(registry, host, device->ops(), watchdog) {}

  void make_plugins();
  void plan_memory();
  void load(const Say& say);
  void measure_costs(const ModelContext& context, const Say& say);
  model::LoadOptions load_options() const;
  model::LoadOptions target_options() const;

  Settings settings;
  const plugin::Registry& registry;
  files::Gguf target_file;
  model::Shape shape;
  text::Tokenizer tokenizer;
  std::unique_ptr<device::Device> device;
  std::unique_ptr<model::Ranks> threads;  // unless ranks are processes
  model::Lead& lead;
  std::unique_ptr<model::LedModel> target;  // before the host, whose modules borrow from it
  EngineHost host;
  Watchdog watchdog;
  Strategies strategies;
  std::int32_t pages = 0;  // of each pool
  MemoryPlan plan;
  std::unique_ptr<kv::PrefixCache> prefixes;
  std::unique_ptr<step::Step> step;
  std::unique_ptr<Loop> loop;
};

// Plugins come before weights: what they open decides what is planned.
void Engine::Impl::make_plugins() {
  const Settings& s = settings;
  strategies.keep({s.draft, s.accept, s.length, s.sampler}, s.drafters);
  host.seal();
  strategies.match();  // a pair that may not be joined is refused before anything is loaded
}

model::LoadOptions Engine::Impl::load_options() const {
  model::LoadOptions options;
  options.cache_folder =
      settings.cache_folder.empty() ? files::cache_folder() : settings.cache_folder;
  options.max_rows = settings.rows_per_step;
  options.max_positions = settings.max_model_len;
  options.kv_type = settings.kv_type;
  options.huge_pages = settings.huge_pages;
  return options;
}

// It keeps the states that modules read.
model::LoadOptions Engine::Impl::target_options() const {
  model::LoadOptions options = load_options();
  options.taps = host.taps();
  return options;
}

// Target, drafts and modules, rank by rank.
void Engine::Impl::plan_memory() {
  std::vector<ModelNeed> models;
  const auto add = [&](const std::string& who, int degree, const auto& need_on) {
    for (int rank = 0; rank < degree; ++rank)
      models.push_back(
          {degree == 1 ? who : who + " on rank " + std::to_string(rank), need_on(rank)});
  };
  add("target", settings.tp, [&](int rank) {
    return model::Decoder::memory_need(target_file, target_options(), rank, settings.tp);
  });
  for (const auto& draft : host.models())
    add("draft", draft->degree(), [&](int rank) {
      return model::Decoder::memory_need(draft->file(), draft->cheaper(load_options()), rank,
                                         draft->degree());
    });
  const auto architecture = model::architecture_of(target_file);
  for (const auto& module : host.modules())
    add("module", settings.tp, [&](int) { return module->need(architecture, load_options()); });
  const std::int32_t least = pages_of_one(settings);
  const PageWish wish{settings.kv_pages, least, least * settings.max_num_seqs};
  plan = plan_of(models, wish, kTraceQueueBytes, settings.memory_utilization);
  pages = plan.pages;
}

void Engine::Impl::load(const Say& say) {
  ModelContext context{*device, lead, load_options()};
  const auto report = [&](const std::string& who) {
    context.load.progress = load_report(say, who);
  };
  report("target");
  model::LoadOptions for_target = target_options();
  for_target.progress = context.load.progress;
  target = lead.open(target_file, settings.tp, *device, for_target, pages);
  if (settings.prefix_cache) prefixes = std::make_unique<kv::PrefixCache>(target->pool());
  for (const auto& draft : host.models()) {
    report("draft");
    draft->load(context, pages, shape.vocab, settings.trace_level >= trace::Level::CHOSEN,
                settings.prefix_cache);
    draft->draft().watched_by(&watchdog);
  }
  for (const auto& module : host.modules()) {
    report("module");
    module->load(context, *target, pages, settings.trace_level >= trace::Level::CHOSEN,
                 settings.prefix_cache);
    module->draft().watched_by(&watchdog);
  }
  const step::Recorded recorded{settings.trace_level, settings.trace_topk, settings.trace_optimal};
  step = std::make_unique<step::Step>(target->forward(), recorded, device->ops(), &watchdog,
                                      &device->pool());
  if (settings.cost_table || host.costs_are_wanted()) measure_costs(context, say);
  loop =
      std::make_unique<Loop>(LoopNeeds{*step, target->pool(), prefixes.get(), settings.max_num_seqs,
                                       settings.rows_per_step, &watchdog});
}

// Before anything is cached in the pools: a forward over a chain writes into pages of its own.
void Engine::Impl::measure_costs(const ModelContext& context, const Say& say) {
  const std::filesystem::path folder = context.load.cache_folder;
  const auto report = [&say](const std::string& who) {
    return [&say, who](const std::string& what) { say(who + ": " + what); };
  };
  Costs& costs = host.costs_to_fill();
  costs.target = model::cost_of(folder, cost_key(target_file, settings.tp, context),
                                target->forward(), target->pool(), report("target"));
  if (!host.models().empty())
    costs.draft = host.models().front()->cost(folder, context, report("draft"));
}

Engine::Engine(const Settings& settings, const plugin::Registry& registry, const Say& say,
               model::Ranks* ranks)
    : impl_(std::make_unique<Impl>(settings, registry, ranks)) {
  check(settings, impl_->shape);
  check_ranks(settings, impl_->lead.ranks());
  impl_->make_plugins();
  impl_->plan_memory();
  say(impl_->plan.table());
  if (!impl_->plan.fits())
    throw DeviceError("not enough memory: the run needs " +
                      std::to_string(impl_->plan.total_bytes) + " bytes, allowed are " +
                      std::to_string(impl_->plan.limit_bytes) +
                      "; lower engine.max_model_len, choose smaller models, or raise "
                      "engine.memory_utilization\n" +
                      impl_->plan.table());
  if (downgraded())
    say("warning: " + settings.draft.name + " anticipates its tokens, which " +
        settings.accept.name +
        " may not assume of sampled drafts: verified as deltas (lossless, fewer accepted)");
  if (!reproducible())
    say("warning: " + settings.length.name +
        " reads the clock: this run is not reproducible; length_replay repeats it from its trace");
  impl_->load(say);
}
Engine::~Engine() = default;

const text::Tokenizer& Engine::tokenizer() const { return impl_->tokenizer; }
const MemoryPlan& Engine::memory() const { return impl_->plan; }
bool Engine::reproducible() const { return impl_->strategies.reads() != Reads::CLOCK; }
bool Engine::downgraded() const { return impl_->strategies.match() == step::Match::DOWNGRADE; }
std::string Engine::isa() const { return std::string(kernels::name(impl_->device->ops().isa)); }
std::int32_t Engine::vocab() const { return impl_->shape.vocab; }

std::vector<PluginFact> Engine::plugins() const {
  std::vector<PluginFact> facts;
  const auto add = [&](Kind kind, std::string slot, const PluginChoice& choice, std::string claim) {
    facts.push_back({std::move(slot), choice.name, std::move(claim),
                     impl_->registry.effective(kind, choice.name, choice.arguments),
                     impl_->registry.find(choice.name).from});
  };
  const Settings& s = impl_->settings;
  add(Kind::DRAFTER, "draft", s.draft, "");
  add(Kind::RULE, "accept", s.accept, std::string(claim_text(impl_->strategies.claim())));
  add(Kind::LENGTH, "length", s.length, "");
  for (std::size_t k = 0; k < s.sampler.size(); ++k)
    add(Kind::SAMPLER, "sampler_" + std::to_string(k), s.sampler[k], "");
  return facts;
}

const Costs& Engine::costs() const { return impl_->host.costs_to_fill(); }

std::vector<trace::Attributes> Engine::attributes() const {
  std::vector<trace::Attributes> groups;
  const Costs& costs = impl_->host.costs_to_fill();
  const auto add_model = [&](std::string group, const std::string& name, const files::Gguf& file,
                             const model::Shape& of, int degree, const CostCurve& cost) {
    groups.push_back({std::move(group),
                      {{"name", name},
                       {"architecture", of.architecture},
                       {"header_sha256", file.header_sha256()},
                       {"file_bytes", std::to_string(file.file_bytes())},
                       {"vocab_size", std::to_string(of.vocab)},
                       {"tokenizer_sha256", text::Tokenizer(file).sha256()},
                       {"tp_size", std::to_string(degree)},
                       {"kv_dtype", std::string(kernels::name(impl_->settings.kv_type))},
                       {"cost_table", model::to_json(cost)}}});
  };
  add_model("/models/target", impl_->settings.target, impl_->target_file, impl_->shape,
            impl_->settings.tp, costs.target);
  const auto& drafts = impl_->host.models();
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    add_model("/models/draft_" + std::to_string(k), drafts[k]->name(), drafts[k]->file(),
              drafts[k]->shape(), drafts[k]->degree(), k == 0 ? costs.draft : CostCurve{});
    for (auto& value : drafts[k]->savings().attributes()) groups.back().values.push_back(value);
  }
  for (std::size_t k = 0; const auto& module : impl_->host.modules())
    groups.push_back({"/models/module_" + std::to_string(k++),
                      {{"name", module->name()},
                       {"header_sha256", module->file().header_sha256()},
                       {"file_bytes", std::to_string(module->file().file_bytes())},
                       {"tp_size", std::to_string(impl_->settings.tp)}}});
  for (const PluginFact& fact : plugins()) {
    std::string parameters;
    for (const plugin::Parameter& p : fact.parameters)
      parameters += (parameters.empty() ? "" : ", ") + p.name + "=" + p.fallback;
    groups.push_back({"/plugins/" + fact.slot,
                      {{"name", fact.name},
                       {"class", fact.claim},
                       {"parameters", parameters},
                       {"path", fact.from.path.string()},
                       {"sha256", fact.from.sha256},
                       {"build_tag", fact.from.build_tag}}});
    if (fact.slot == "length")
      groups.back().values.emplace_back("reads", reads_text(impl_->strategies.reads()));
  }
  return groups;
}

void Engine::submit(Request request, Listener listener) {
  Decoding wanted = request.decoding;
  if (request.min_tokens > 0) {
    if (!wanted.sampler) wanted.sampler = impl_->settings.sampler;
    wanted.sampler->push_back(
        {"sample_min_tokens", {{"n", std::to_string(request.min_tokens), "min_tokens"}}});
  }
  impl_->loop->add(std::make_unique<Active>(std::move(request), std::move(listener),
                                            impl_->strategies.plan(wanted), impl_->tokenizer,
                                            impl_->settings.max_model_len));
}

bool Engine::cancel(std::uint64_t request_key) { return impl_->loop->cancel(request_key); }
bool Engine::iterate(trace::Sink& sink) { return impl_->loop->iterate(sink); }
void Engine::on_stuck_plugin(Say stuck) { impl_->watchdog.on_stuck(std::move(stuck)); }
bool Engine::preempt(trace::Sink& sink) { return impl_->loop->preempt(sink); }
std::int32_t Engine::free_pages() const { return impl_->target->pool().obtainable(); }

std::int64_t Engine::held_pages() const {
  const auto held = [](const kv::PagePool& pool) {
    return std::int64_t{pool.total()} - pool.obtainable();
  };
  std::int64_t pages = held(impl_->target->pool());
  for (const auto& draft : impl_->host.models()) pages += held(draft->draft().pages());
  for (const auto& module : impl_->host.modules()) pages += held(module->draft().pages());
  return pages;
}

Result Engine::run(Request request, trace::Sink& sink,
                   std::function<void(std::span<const Token>)> on_tokens,
                   std::function<bool()> cancelled) {
  std::optional<Result> result;
  submit(std::move(request), {std::move(on_tokens), std::move(cancelled),
                              [&](Result mine) { result = std::move(mine); }});
  while (!result) iterate(sink);
  return std::move(*result);
}

}  // namespace redline::engine
