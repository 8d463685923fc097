// SPDX-License-Identifier: Apache-2.0
// provenance.json: what made the results of a run, so that another can be told to be the same.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "config/value.hpp"
#include "experiment/plan.hpp"
#include "plugin/registry.hpp"

namespace redline::experiment {

// Hashes the models (known ones were hashed when fetched), plugins and data sets of a plan.
config::Value provenance_of(const Plan& plan, const plugin::Registry& registry,
                            const std::vector<std::string>& argv);

// Every model a plan names: targets, and what plugins take as `model`. InputError: one is not
// there, with the command that fetches it.
std::vector<std::string> models_of(const Plan& plan);
std::string model_sha256(const std::string& name_or_path);

}  // namespace redline::experiment
