// SPDX-License-Identifier: Apache-2.0
// A small experiment for the tests: its config, and a stand-in for the plugin registry.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "experiment/plan.hpp"
#include "experiment/scratch.hpp"

inline constexpr auto kTrial =
    "redline: 1\n"
    "name: trial\n"
    "model: {target: tiny}\n"
    "length: {name: length_fixed, k: 4}\n"
    "dataset: [{path: d.jsonl, limit: 1}]\n";

// What the plugins of these tests take.
inline std::vector<redline::plugin::Parameter> trial_parameters(
    redline::Kind, const std::string& name, const redline::plugin::Arguments& arguments) {
  std::vector<redline::plugin::Parameter> known;
  if (name.ends_with("ngran")) throw redline::InputError("no drafter '" + name + "'");
  if (name == "length_fixed") known = {{"k", "int", "4", "", ""}};
  if (name == "draft_ngram") known = {{"n", "int", "3", "", ""}};
  if (name == "draft_model")
    known = {{"model", "text", "", "", ""},
             {"t", "double", "0", "", ""},
             {"requantize", "text", "none", "", ""},
             {"head_tokens", "int", "0", "", ""},
             {"frequencies", "text", "", "", ""}};
  if (name == "sample_temperature") known = {{"t", "double", "1.000000", "", ""}};
  if (name == "sample_top_k") known = {{"k", "int", "0", "", ""}};
  if (name == "sample_min_tokens") known = {{"n", "int", "0", "", ""}};
  for (const auto& argument : arguments) {
    const auto it = std::ranges::find(known, argument.name, &redline::plugin::Parameter::name);
    if (it == known.end())
      throw redline::InputError(argument.where + ": no parameter " + argument.name);
    it->fallback = argument.value;
  }
  return known;
}

inline redline::experiment::Plan trial_plan(const Scratch& scratch, const std::string& yaml,
                                            const std::vector<std::string>& overrides = {},
                                            const std::vector<std::string>& sweeps = {}) {
  scratch.write("d.jsonl", "{\"id\":1,\"prompt\":\"x\"}\n{\"id\":2,\"prompt\":\"y\"}\n");
  scratch.write("c.yaml", yaml);
  return redline::experiment::make_plan(
      redline::experiment::read_source(scratch / "c.yaml", overrides), sweeps, trial_parameters);
}
