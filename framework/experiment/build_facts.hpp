// SPDX-License-Identifier: Apache-2.0
// What this program is: the commit, the compiler, the bytes that run.
#pragma once
#include <string>

#include "config/value.hpp"

namespace redline::experiment {

// {version, git_sha, git_dirty, compiler, flags, build_type, sanitizers, sha256}; sha256 is over
// the program and the core library, the only name of a build that cannot be wrong.
config::Value build_facts();
std::string build_sha256();

// {cpu, cores, memory_bytes, isa, kernel}
config::Value machine_facts();

}  // namespace redline::experiment
