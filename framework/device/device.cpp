// SPDX-License-Identifier: Apache-2.0
#include "device/device.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "redline/error.hpp"

namespace redline::device {
namespace {

constexpr int kMaxThreads = 1024;

std::string list_of(const std::vector<kernels::Isa>& sets) {
  std::string text;
  for (kernels::Isa isa : sets)
    text += (text.empty() ? "" : ", ") + std::string(kernels::name(isa));
  return text;
}

kernels::Isa choose(std::string_view text) {
  if (text.empty()) return kernels::best();
  const std::optional<kernels::Isa> isa = kernels::isa_from(text);
  if (!isa)
    throw InputError("unknown instruction set '" + std::string(text) + "': known are " +
                     list_of({std::begin(kernels::kIsas), std::end(kernels::kIsas)}) +
                     "; leave it out for the best one of this machine");
  const std::vector<kernels::Isa> have = kernels::supported();
  if (std::find(have.begin(), have.end(), *isa) == have.end())
    throw DeviceError("this machine lacks " + std::string(text) + ": it has " + list_of(have) +
                      "; choose one of these, results are the same");
  return *isa;
}

}  // namespace

std::unique_ptr<Device> Device::open(std::string_view name, int threads, std::string_view isa) {
  if (name != "cpu")
    throw DeviceError("no device '" + std::string(name) + "' in this build: there is cpu");
  if (threads < 0 || threads > kMaxThreads)
    throw InputError("threads is " + std::to_string(threads) + ", allowed are 0 (one a core) to " +
                     std::to_string(kMaxThreads));
  return std::make_unique<Device>(threads, choose(isa));
}

}  // namespace redline::device
