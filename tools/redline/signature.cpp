// SPDX-License-Identifier: Apache-2.0
#include "redline/signature.hpp"

#include <cstdio>
#include <filesystem>
#include <span>

#include "engine/engine.hpp"
#include "files/sha256.hpp"
#include "model/tiny_model.hpp"
#include "redline/scratch_folder.hpp"

namespace redline::tool {
namespace {

namespace fs = std::filesystem;

struct Strategy {
  const char* name;
  engine::PluginChoice draft, accept;
  const char* temperature;
};

std::vector<Strategy> strategies(const std::string& draft_model) {
  const auto draft = [&](const char* method) {
    return engine::PluginChoice{
        "draft_model", {{"model", draft_model, "signature"}, {"method", method, "signature"}}};
  };
  const engine::PluginChoice none{"draft_none", {}}, ngram{"draft_ngram", {}};
  return {{"plain, greedy", none, {"accept_match", {}}, "0"},
          {"n-gram, greedy", ngram, {"accept_match", {}}, "0"},
          {"draft model, greedy", draft("sample"), {"accept_match", {}}, "0"},
          {"plain, 0.8", none, {"accept_match", {}}, "0.8"},
          {"draft model, ratio, 0.8", draft("sample"), {"accept_ratio", {}}, "0.8"},
          {"draft model, delta, 0.8", draft("greedy"), {"accept_delta", {}}, "0.8"},
          {"draft model, Gumbel, 0.8", draft("coupled"), {"accept_gumbel", {}}, "0.8"}};
}

struct Pair {
  const char* architecture;
  files::TensorType target, draft;
};
constexpr Pair kPairs[] = {{"llama", files::TensorType::Q4_K, files::TensorType::Q8_0},
                           {"qwen2", files::TensorType::Q6_K, files::TensorType::Q5_0}};

std::string write_model(const ScratchFolder& folder, const Pair& pair, bool draft) {
  const fs::path path =
      folder.path() / (std::string(pair.architecture) + (draft ? "-draft" : "") + ".gguf");
  model::TinySpec spec;
  spec.architecture = pair.architecture;
  spec.type = draft ? pair.draft : pair.target;
  spec.seed = draft ? 2 : 1;
  model::write_tiny_model(spec, path);
  return path.string();
}

std::vector<Token> emitted(const engine::Settings& settings, const plugin::Registry& registry) {
  engine::Engine engine(settings, registry, [](const std::string&) {});
  std::vector<Token> ids;
  trace::NoTrace sink;
  for (std::uint64_t question = 0; question < 3; ++question) {
    engine::Request request;
    request.key = engine::request_key("signature", question, 0, 0);
    request.seed = 7;
    for (Token k = 0; k < 20 + 10 * static_cast<Token>(question); ++k)
      request.prompt.push_back((k * k + static_cast<Token>(question)) % 97);
    request.max_tokens = 48;
    request.ignore_eos = true;
    const auto result = engine.run(request, sink);
    ids.insert(ids.end(), result.tokens.begin(), result.tokens.end());
  }
  return ids;
}

}  // namespace

int signature(const SignatureOptions& options) {
  const plugin::Registry registry({}, {});
  const ScratchFolder folder;
  std::vector<Token> all;
  for (const Pair& pair : kPairs) {
    engine::Settings settings;
    settings.target = write_model(folder, pair, false);
    settings.isa = options.isa;
    settings.threads = options.threads;
    settings.max_model_len = 256;
    settings.cache_folder = folder.path();
    for (const Strategy& s : strategies(write_model(folder, pair, true))) {
      settings.draft = s.draft;
      settings.accept = s.accept;
      settings.sampler = {{"sample_temperature", {{"t", s.temperature, "signature"}}}};
      const auto ids = emitted(settings, registry);
      if (options.verbose)
        std::printf("%s  %s, %s\n",
                    files::sha256_hex(std::as_bytes(std::span(ids))).substr(0, 16).c_str(),
                    pair.architecture, s.name);
      all.insert(all.end(), ids.begin(), ids.end());
    }
  }
  std::printf("%s\n", files::sha256_hex(std::as_bytes(std::span(all))).substr(0, 16).c_str());
  return 0;
}

}  // namespace redline::tool
