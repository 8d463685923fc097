// SPDX-License-Identifier: Apache-2.0
// Where a model runs. The CPU is the embedded default; redline_cuda is loaded on request.
#pragma once
#include <memory>
#include <string_view>

#include "device/worker_pool.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::device {

class Device {
 public:
  // name: "cpu" (DeviceError for any other, naming what is there); isa: "" for the best one, or a
  // name of kernels::Isa (InputError when unknown, DeviceError when this machine lacks it).
  static std::unique_ptr<Device> open(std::string_view name, int threads,
                                      std::string_view isa = "");
  Device(int threads, kernels::Isa isa) : pool_(threads), ops_(kernels::ops(isa)) {}
  WorkerPool& pool() { return pool_; }
  const kernels::Ops& ops() const { return ops_; }

 private:
  WorkerPool pool_;
  const kernels::Ops& ops_;
};

}  // namespace redline::device
