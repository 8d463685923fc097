// SPDX-License-Identifier: Apache-2.0
// Gate 3 refuses this file: an entry that no one can make.
#include "redline/plugin.hpp"

REDLINE_PLUGIN(redline::Entry{redline::Kind::RULE, "hollow", "", nullptr, nullptr});
