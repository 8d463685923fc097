// SPDX-License-Identifier: Apache-2.0
// What every record must satisfy before it is stored; a breach names the request and the numbers.
#pragma once
#include "trace/table_writer.hpp"

namespace redline::trace {

void require_sound(const StepRecord& step, const Layout& layout);  // throws Error
void require_sound(const RequestRecord& request);

}  // namespace redline::trace
