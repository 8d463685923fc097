// SPDX-License-Identifier: Apache-2.0
#include "redline/check_state.hpp"

#include <fstream>

namespace redline::tool {
namespace {

namespace fs = std::filesystem;
using config::Value;

constexpr std::chrono::seconds kEvery(5);

Value asked_of(const plugin::Listing& plugin, const std::map<std::string, std::string>& values,
               const CheckModelOptions& o) {
  Value parameters = Value::map();
  for (const auto& [name, value] : values) parameters.put(name, Value::of(value));
  return Value::map()
      .put("plugin", Value::of(plugin.name))
      .put("sha256", Value::of(plugin.from.sha256))
      .put("parameters", parameters)
      .put("model", Value::of(o.model))
      .put("draft", Value::of(o.draft))
      .put("drafter", Value::of(o.drafter))
      .put("data", Value::of(o.data))
      .put("temperature", Value::of(o.temperature))
      .put("seed", Value::of(o.seed))
      .put("text_tokens", Value::of(o.text_tokens));
}

void check_same(const Value& asked, const Value& before, const fs::path& path) {
  for (const auto& [key, value] : asked.fields) {
    const Value* its = before.find(key);
    const std::string now = config::to_json(value), then = its ? config::to_json(*its) : "nothing";
    if (now != then)
      throw InputError(path.string() + " is of a check with " + key + " " + then +
                       ", this one has " + now +
                       "; name another --state, or start anew without --resume");
  }
}

}  // namespace

CheckState::CheckState(const plugin::Listing& plugin,
                       const std::map<std::string, std::string>& values,
                       const CheckModelOptions& options)
    : path_(options.state.empty() ? "check-" + plugin.name + ".json" : options.state),
      asked_(asked_of(plugin, values, options)) {
  const bool exists = fs::exists(path_);
  if (exists && !options.resume)
    throw InputError(path_.string() +
                     " holds a check that was stopped; go on with --resume, or remove it");
  if (!exists || !options.resume) return;
  const Value file = config::load(path_);
  check_same(asked_, file.at("asked"), path_);
  saved_ = file.at("found");
}

void CheckState::save(const Value& found) {
  Value file = Value::map().put("asked", asked_).put("found", found);
  const fs::path next = path_.string() + ".next";
  std::ofstream(next) << config::to_json(file) << '\n';
  fs::rename(next, path_);
  last_ = std::chrono::steady_clock::now();
}

bool CheckState::is_due() const { return std::chrono::steady_clock::now() - last_ > kEvery; }

void CheckState::finish() const {
  std::error_code none_was_saved;
  fs::remove(path_, none_was_saved);
}

}  // namespace redline::tool
