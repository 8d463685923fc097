// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include "engine/engine_host.hpp"
#include "engine/loop.hpp"
#include "files/model_store.hpp"

namespace redline::engine {
namespace {

constexpr std::int64_t kTraceQueueBytes = 64 << 20;

// A sequence at its longest and the widest draft a forward takes.
std::int32_t pages_of_one(const Settings& s) {
  return (s.max_model_len + s.rows_per_step) / kv::kPageTokens + 1;
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

}  // namespace

struct Engine::Impl {
  Impl(const Settings& s, const plugin::Registry& r)
      : settings(s),
        registry(r),
        target_file(files::Gguf::open(files::locate_model(s.target))),
        shape(model::shape_of(target_file)),
        tokenizer(target_file),
        device(device::Device::open(s.device, s.threads, s.isa)),
        host(registry, shape, tokenizer),
        strategies(registry, host, device->ops()) {}

  void make_plugins();
  std::int64_t fixed_bytes() const;
  std::int64_t page_bytes() const;
  void plan_memory();
  void load(const Say& say);
  model::LoadOptions load_options() const;

  Settings settings;
  const plugin::Registry& registry;
  files::Gguf target_file;
  model::Shape shape;
  text::Tokenizer tokenizer;
  std::unique_ptr<device::Device> device;
  parallel::Solo ranks;
  EngineHost host;
  Strategies strategies;
  std::int32_t pages = 0;  // of each pool
  MemoryPlan plan;
  std::unique_ptr<model::Decoder> target;
  std::unique_ptr<kv::PagePool> pool;
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
  return options;
}

// What is taken whatever the number of pages.
std::int64_t Engine::Impl::fixed_bytes() const {
  std::int64_t bytes = kTraceQueueBytes;
  const auto add = [&](const files::Gguf& file) {
    const auto need = model::Decoder::memory_need(file, load_options());
    bytes += need.weights + need.activations;
  };
  add(target_file);
  for (const auto& draft : host.models()) add(draft->file());
  return bytes;
}

std::int64_t Engine::Impl::page_bytes() const {
  std::int64_t bytes = shape.kv().page_bytes();
  for (const auto& draft : host.models()) bytes += draft->shape().kv().page_bytes();
  return bytes;
}

// Pages of target and drafts run out together: each pool has as many.
void Engine::Impl::plan_memory() {
  plan.available_bytes = available_memory_bytes();
  plan.limit_bytes = static_cast<std::int64_t>(static_cast<double>(plan.available_bytes) *
                                               settings.memory_utilization);
  const std::int32_t least = pages_of_one(settings), wanted = least * settings.max_num_seqs;
  const std::int64_t fit = (plan.limit_bytes - fixed_bytes()) / page_bytes();
  pages = settings.kv_pages > 0
              ? settings.kv_pages
              : static_cast<std::int32_t>(std::clamp<std::int64_t>(fit, least, wanted));
  const auto add = [this](std::string what, std::int64_t bytes) {
    plan.items.push_back({std::move(what), bytes});
    plan.total_bytes += bytes;
  };
  const auto add_model = [&](const std::string& who, const files::Gguf& file,
                             const model::Shape& of) {
    const auto need = model::Decoder::memory_need(file, load_options());
    add(who + " weights", need.weights);
    add(who + " KV, " + std::to_string(pages) + " pages of 16", pages * of.kv().page_bytes());
    add(who + " activations", need.activations);
  };
  add_model("target", target_file, shape);
  for (const auto& draft : host.models()) add_model("draft", draft->file(), draft->shape());
  add("trace queue", kTraceQueueBytes);
}

void Engine::Impl::load(const Say& say) {
  ModelContext context{*device, ranks, load_options()};
  const auto report = [&](const std::string& who) {
    context.load.progress = [&say, who](double done, const std::string& what) {
      say(who + ": " + what + " " + std::to_string(static_cast<int>(done * 100)) + " %");
    };
  };
  report("target");
  target = std::make_unique<model::Decoder>(target_file, *device, ranks, context.load);
  pool = std::make_unique<kv::PagePool>(target->kv_shape(), pages);
  if (settings.prefix_cache) prefixes = std::make_unique<kv::PrefixCache>(*pool);
  for (const auto& draft : host.models()) {
    report("draft");
    draft->load(context, pages, shape.vocab, settings.trace_level >= trace::Level::CHOSEN,
                settings.prefix_cache);
  }
  step = std::make_unique<step::Step>(*target, settings.trace_level, settings.trace_topk,
                                      device->ops());
  loop = std::make_unique<Loop>(
      LoopNeeds{*step, *pool, prefixes.get(), settings.max_num_seqs, settings.rows_per_step});
}

Engine::Engine(const Settings& settings, const plugin::Registry& registry, const Say& say)
    : impl_(std::make_unique<Impl>(settings, registry)) {
  check(settings, impl_->shape);
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
  impl_->load(say);
}
Engine::~Engine() = default;

const text::Tokenizer& Engine::tokenizer() const { return impl_->tokenizer; }
const MemoryPlan& Engine::memory() const { return impl_->plan; }
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

std::vector<trace::Attributes> Engine::attributes() const {
  std::vector<trace::Attributes> groups;
  const auto add_model = [&](std::string group, const std::string& name, const files::Gguf& file,
                             const model::Shape& of) {
    groups.push_back({std::move(group),
                      {{"name", name},
                       {"architecture", of.architecture},
                       {"header_sha256", file.header_sha256()},
                       {"file_bytes", std::to_string(file.file_bytes())},
                       {"vocab_size", std::to_string(of.vocab)},
                       {"tokenizer_sha256", text::Tokenizer(file).sha256()},
                       {"tp_size", "1"}}});
  };
  add_model("/models/target", impl_->settings.target, impl_->target_file, impl_->shape);
  const auto& drafts = impl_->host.models();
  for (std::size_t k = 0; k < drafts.size(); ++k)
    add_model("/models/draft_" + std::to_string(k), drafts[k]->name(), drafts[k]->file(),
              drafts[k]->shape());
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
bool Engine::preempt(trace::Sink& sink) { return impl_->loop->preempt(sink); }
std::int32_t Engine::free_pages() const { return impl_->pool->obtainable(); }

std::int64_t Engine::held_pages() const {
  const auto held = [](const kv::PagePool& pool) {
    return std::int64_t{pool.total()} - pool.obtainable();
  };
  std::int64_t pages = held(*impl_->pool);
  for (const auto& draft : impl_->host.models()) pages += held(draft->draft().pages());
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
