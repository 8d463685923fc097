// SPDX-License-Identifier: Apache-2.0
// Writes everything of a trace that is known before its first row. Internal to this room.
#pragma once
#include "trace/hdf5.hpp"
#include "trace/records.hpp"

namespace redline::trace {

inline constexpr std::size_t kStateWidth = 8;  // "open", "complete"

void write_header(hdf5::File& file, const Header& header);
void describe_logits(hdf5::File& file, const Header& header);  // once their tables are made

}  // namespace redline::trace
