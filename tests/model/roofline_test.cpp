// SPDX-License-Identifier: Apache-2.0
#include "model/roofline.hpp"

#include <catch2/catch.hpp>

#include "model/tiny.hpp"
#include "redline/kernels/peak.hpp"

namespace redline::model {
namespace {

constexpr ForwardWork kWork{.weight_bytes = 2000,
                            .multiply_adds_a_row = 300,
                            .kv_bytes_a_position = 10,
                            .fmas_a_row_and_position = 4};
constexpr Limits kLimits{.read_bytes = 100, .multiply_adds = 30, .fmas = 8};

TEST_CASE("A narrow forward is bound by what it reads, a wide one by what it multiplies") {
  CHECK(roofline_ns(kWork, kLimits, 1, 0) == Approx((2000 + 10) / 100. * 1e9));
  // two rows see 1 and 2 positions behind an empty context
  CHECK(roofline_ns(kWork, kLimits, 2, 0) == Approx((2 * 300 / 30. + 4 * 3 / 8.) * 1e9));
}

TEST_CASE("Context costs its KV when reading, its scores and values when multiplying") {
  CHECK(read_bytes(kWork, 1, 9) == 2100);
  const double without = roofline_ns(kWork, kLimits, 4, 0);
  CHECK(roofline_ns(kWork, kLimits, 4, 9) == Approx(without + 4 * 9 * 4 / 8. * 1e9));
}

TEST_CASE("A forward's work counts the embedding only where it is the head") {
  const TinySpec spec{.layers = 1, .type = files::TensorType::F16};
  const auto work = [](TinySpec of) { return work_of(TinyFile(of).open()); };
  TinySpec tied = spec;
  tied.tied = true;
  CHECK(work(spec).multiply_adds_a_row == work(tied).multiply_adds_a_row);
  CHECK(work(spec).weight_bytes == work(tied).weight_bytes);
  // q, k, v, o of 4 heads and 2 kv heads; gate, up, down; a head for 256 bytes and more
  CHECK(work(spec).multiply_adds_a_row >=
        256 * (256 + 128 + 128 + 256 + 3 * 512 + 256 + spec.extra_vocab));
  CHECK(work(spec).kv_bytes_a_position == 2 * 128 * 2);
  CHECK(work(spec).fmas_a_row_and_position == 2 * 256);
}

TEST_CASE("What makes a model cheaper leaves less work") {
  const TinyFile file(TinySpec{.layers = 1, .type = files::TensorType::Q8_0, .tied = true});
  const auto whole = work_of(file.open());
  LoadOptions options;
  options.requantize = Requantize::Q4_0;
  const auto small = work_of(file.open(), options);
  CHECK(small.multiply_adds_a_row == whole.multiply_adds_a_row);
  const double vectors = 4. * 3 * 256;
  CHECK((small.weight_bytes - vectors) / (whole.weight_bytes - vectors) == Approx(18. / 34));
  options.head_tokens = {1, 2, 3};
  const std::int64_t missing = shape_of(file.open()).vocab - 3;
  CHECK(work_of(file.open(), options).multiply_adds_a_row ==
        whole.multiply_adds_a_row - 256. * missing);
  options.kv_type = kernels::KvType::Q8_0;
  CHECK(work_of(file.open(), options).kv_bytes_a_position ==
        Approx(whole.kv_bytes_a_position * 17 / 32));
}

TEST_CASE("The limits of every instruction set are found, and only ever rise") {
  for (const kernels::Isa isa : kernels::supported()) {
    INFO(kernels::name(isa));
    device::Device device(1, isa);
    LimitsProbe probe(device);
    probe.measure();
    const Limits first = probe.best();
    CHECK(first.read_bytes > 0);
    CHECK(first.multiply_adds > 0);
    CHECK(first.fmas > 0);
    probe.saw_read(first.read_bytes, 1e10);  // slower than what was seen
    CHECK(probe.best().read_bytes == first.read_bytes);
    probe.saw_read(first.read_bytes * 2, 1e9);
    CHECK(probe.best().read_bytes == first.read_bytes * 2);
    CHECK(probe.now().read_bytes == first.read_bytes);  // of the loops themselves, when last run
    CHECK(probe.now().multiply_adds == first.multiply_adds);
  }
}

}  // namespace
}  // namespace redline::model
