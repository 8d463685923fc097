// SPDX-License-Identifier: Apache-2.0
#include "trace/writer.hpp"

#include <catch2/catch.hpp>
