// SPDX-License-Identifier: Apache-2.0
// Brings a known model into the cache folder: its sources in order, resumed where an earlier try
// was cut off, checked by size and SHA-256 before it takes its name.
#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "files/download.hpp"
#include "files/model_store.hpp"

namespace redline::files {

struct FetchSettings {
  std::string source;  // "", or the one kind of source to use
  std::string endpoint = "https://huggingface.co";
  std::function<void(const std::string& line)> say = {};
  Progress progress = {};
};

// The path of the checked file. InputError: no such source. DeviceError: none of them delivers.
// Error: what came is not the model; it is removed.
std::filesystem::path fetch_model(const KnownModel& model, const FetchSettings& settings);

// There and known to be right: by the note left beside it, else by its hash (and the note is left).
bool is_verified(const KnownModel& model);

}  // namespace redline::files
