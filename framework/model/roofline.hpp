// SPDX-License-Identifier: Apache-2.0
// The least time a forward of so many rows can take on the machine at hand: what it must read by
// how fast memory is read, or what it must multiply by how fast a loop multiplies.
#pragma once
#include <cstddef>
#include <memory>

#include "device/device.hpp"
#include "model/decoder.hpp"

namespace redline::model {

struct Limits {              // of all threads of a device; a second
  double read_bytes = 0;     // from memory
  double multiply_adds = 0;  // of integers, with unpacking, without scales, in the first cache
  double fmas = 0;           // of floats
};

// Measures by and by and keeps the best, and the last: hosts are shared, and their memory's speed
// swings.
class LimitsProbe {
 public:
  explicit LimitsProbe(device::Device& device);
  void measure();                          // some 20 ms
  void saw_read(double bytes, double ns);  // something else has read so fast
  const Limits& best() const { return best_; }
  Limits now() const;  // the best, but as memory was read when last measured

 private:
  device::Device& device_;
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte[], Free> memory_;  // more than caches hold, in large pages
  Limits best_;
  double last_read_bytes_ = 0;
};

struct ForwardWork {
  double weight_bytes = 0;             // as a file stores them, each read once
  double multiply_adds_a_row = 0;      // of the matrices
  double kv_bytes_a_position = 0;      // read once for all rows
  double fmas_a_row_and_position = 0;  // scores and values of attention
};
// Of the whole model, every row wanting logits. The embedding counts only where it is the head.
ForwardWork work_of(const files::Gguf& file, const LoadOptions& options = {});

double read_bytes(const ForwardWork& work, int rows, int context);
double roofline_ns(const ForwardWork& work, const Limits& limits, int rows, int context);

}  // namespace redline::model
