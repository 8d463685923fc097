// SPDX-License-Identifier: Apache-2.0
// The codes of EventRecord. A code is never reused or renumbered: add at the end.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace redline::trace {

enum class Event : std::uint16_t {
  DOWNGRADED,     // the draft's laws are verified as deltas; once a run
  DRAFT_REFUSED,  // a bad draft fell back to a plain step; value: drafted tokens
  BAD_ROW,        // logits held NaN or infinity; the request ended with an error
  PAGES_SHORT,    // no page was left for a step; value: pages wanted
  PREEMPTED,      // a sequence gave its pages back; value: tokens to recompute
  RETRIED,        // a request was run again; value: the attempt
  RESUMED,        // this file continues an earlier attempt; value: requests found done
  DISCARDED,      // a half-done request of an earlier attempt was thrown away
  THROTTLED,      // the machine lowered its clock; value: MHz
  ROWS_DROPPED,   // rows not stored; value: how many
  QUEUE_FULL,     // the engine waited for the trace writer; value: how often
  OLD_FORMAT,     // no SWMR on this file system; the file is written in the old format
  PLUGIN_FAILED,  // a plugin threw or broke a law; the request ended with an error
  PLUGIN_SLOW,    // a call of a plugin took longer than it may; value: seconds
  DRAFT_FED,      // a draft was fed a part of a long text, its sequence waiting; value: batch_id
};
inline constexpr std::array<std::string_view, 15> kEventNames = {
    "downgraded", "draft_refused", "bad_row",       "pages_short", "preempted",
    "retried",    "resumed",       "discarded",     "throttled",   "rows_dropped",
    "queue_full", "old_format",    "plugin_failed", "plugin_slow", "draft_fed"};

}  // namespace redline::trace
