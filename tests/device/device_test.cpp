// SPDX-License-Identifier: Apache-2.0
#include "device/device.hpp"

#include <catch2/catch.hpp>

#include "redline/error.hpp"

namespace redline::device {

using Catch::Matchers::Contains;

TEST_CASE("the cpu opens with the best instruction set, or the one asked for") {
  REQUIRE(Device::open("cpu", 2)->ops().isa == kernels::best());
  REQUIRE(Device::open("cpu", 2)->pool().threads() == 2);
  for (kernels::Isa isa : kernels::supported())
    REQUIRE(Device::open("cpu", 1, kernels::name(isa))->ops().isa == isa);
}

TEST_CASE("what is not there is refused with what is") {
  REQUIRE_THROWS_AS(Device::open("cuda", 1), DeviceError);
  REQUIRE_THROWS_WITH(Device::open("cuda", 1), Contains("cuda") && Contains("cpu"));
  REQUIRE_THROWS_AS(Device::open("cpu", 1, "sse9"), InputError);
  REQUIRE_THROWS_WITH(Device::open("cpu", 1, "sse9"),
                      Contains("sse9") && Contains("portable, avx2, avx_vnni, avx512_vnni"));
  REQUIRE_THROWS_AS(Device::open("cpu", -1), InputError);
  REQUIRE_THROWS_WITH(Device::open("cpu", 5000), Contains("5000") && Contains("1024"));
}

}  // namespace redline::device
