// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include "engine/engine_host.hpp"
#include "engine/run.hpp"
#include "files/model_store.hpp"
#include "step/step.hpp"

namespace redline::engine {
namespace {

// A sequence at its longest and the widest draft a forward takes: no step runs out of pages.
std::int32_t pages_for(const Settings& s) {
  const std::int32_t each = (s.max_model_len + s.rows_per_step) / kv::kPageTokens + 1;
  return each * s.max_num_seqs;
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
  if (s.max_num_seqs != 1)
    throw InputError("engine.max_num_seqs is " + std::to_string(s.max_num_seqs) +
                     ", this engine runs 1 sequence at a time; set it to 1");
  if (s.max_model_len > target.context)
    throw InputError("engine.max_model_len is " + std::to_string(s.max_model_len) +
                     ", the target was trained for " + std::to_string(target.context) +
                     " tokens; lower max_model_len");
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
        host(registry, shape, tokenizer) {}

  void make_plugins();
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
  std::unique_ptr<Drafter> drafter;
  std::unique_ptr<AcceptanceRule> rule;
  std::unique_ptr<DraftLength> length;
  std::unique_ptr<step::Chain> chain;
  MemoryPlan plan;
  std::unique_ptr<model::Decoder> target;
  std::unique_ptr<kv::PagePool> pool;
  std::unique_ptr<step::Step> step;
  step::Match match = step::Match::AS_IS;
  std::uint64_t batches = 0;
};

// Plugins come before weights: what they open decides what is planned.
void Engine::Impl::make_plugins() {
  const Settings& s = settings;
  drafter = registry.make<Drafter>(s.draft.name, s.draft.arguments, host);
  rule = registry.make<AcceptanceRule>(s.accept.name, s.accept.arguments, host);
  length = registry.make<DraftLength>(s.length.name, s.length.arguments, host);
  std::vector<std::unique_ptr<Sampler>> links;
  for (const PluginChoice& link : s.sampler)
    links.push_back(registry.make<Sampler>(link.name, link.arguments, host));
  chain = std::make_unique<step::Chain>(std::move(links), device->ops());
  match = step::match(*drafter, *rule);
}

model::LoadOptions Engine::Impl::load_options() const {
  model::LoadOptions options;
  options.cache_folder =
      settings.cache_folder.empty() ? files::cache_folder() : settings.cache_folder;
  options.max_rows = settings.rows_per_step;
  options.max_positions = settings.max_model_len;
  return options;
}

void Engine::Impl::plan_memory() {
  const auto add = [this](std::string what, std::int64_t bytes) {
    plan.items.push_back({std::move(what), bytes});
    plan.total_bytes += bytes;
  };
  const auto add_model = [&](const std::string& who, const files::Gguf& file,
                             const model::Shape& of) {
    const auto need = model::Decoder::memory_need(file, load_options());
    add(who + " weights", need.weights);
    add(who + " KV, " + std::to_string(pages_for(settings)) + " pages of 16",
        pages_for(settings) * of.kv().page_bytes());
    add(who + " activations", need.activations);
  };
  add_model("target", target_file, shape);
  for (const auto& draft : host.models()) add_model("draft", draft->file(), draft->shape());
  add("trace queue", 64 << 20);
  plan.available_bytes = available_memory_bytes();
  plan.limit_bytes = static_cast<std::int64_t>(static_cast<double>(plan.available_bytes) *
                                               settings.memory_utilization);
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
  pool = std::make_unique<kv::PagePool>(target->kv_shape(), pages_for(settings));
  std::vector<step::DraftModel*> drafts;
  for (const auto& draft : host.models()) {
    report("draft");
    draft->load(context, pages_for(settings), shape.vocab, *chain,
                settings.trace_level >= trace::Level::CHOSEN);
    drafts.push_back(&draft->draft());
  }
  step = std::make_unique<step::Step>(*target, step::Strategy{*drafter, *rule, *length, *chain},
                                      std::move(drafts), settings.trace_level, settings.trace_topk,
                                      device->ops());
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
bool Engine::downgraded() const { return impl_->match == step::Match::DOWNGRADE; }
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
  add(Kind::RULE, "accept", s.accept, std::string(claim_text(impl_->rule->contract().claim)));
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

Result Engine::run(const Request& request, trace::Sink& sink,
                   const std::function<void(std::span<const Token>)>& on_tokens,
                   const std::function<bool()>& cancelled) {
  Run run{request,
          impl_->tokenizer,
          *impl_->step,
          *impl_->pool,
          impl_->settings.max_model_len,
          impl_->batches,
          sink};
  return run.finish(on_tokens, cancelled);
}

}  // namespace redline::engine
