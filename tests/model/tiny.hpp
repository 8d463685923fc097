// SPDX-License-Identifier: Apache-2.0
// A tiny model on a device, in a folder of its own.
#pragma once
#include <memory>
#include <string>

#include "device/device.hpp"
#include "files/temporary_folder.hpp"
#include "model/decoder.hpp"
#include "model/tiny_model.hpp"

namespace redline::model {

class TinyFile {
 public:
  explicit TinyFile(const TinySpec& spec) { write_tiny_model(spec, path()); }
  explicit TinyFile(const files::GgufWriter& writer) { writer.write(path()); }
  std::filesystem::path path() const { return folder_ / "tiny.gguf"; }
  std::filesystem::path cache() const { return folder_ / "weights"; }
  files::Gguf open() const { return files::Gguf::open(path()); }

 private:
  tests::TemporaryFolder folder_;
};

class TinyDecoder {
 public:
  explicit TinyDecoder(const TinyFile& file, kernels::Isa isa = kernels::best(), int threads = 1,
                       std::vector<Tap> taps = {}, kernels::KvType kv_type = kernels::KvType::F16)
      : device_(threads, isa),
        decoder_(file.open(), device_, ranks_,
                 {.cache_folder = file.cache(),
                  .max_rows = 96,
                  .max_positions = 256,
                  .taps = std::move(taps),
                  .kv_type = kv_type,
                  .progress = {}}) {}
  device::Device& device() { return device_; }
  Decoder& operator*() { return decoder_; }
  Decoder* operator->() { return &decoder_; }

 private:
  device::Device device_;
  parallel::Solo ranks_;
  Decoder decoder_;
};

// Some ids below vocab, the same for the same seed.
inline std::vector<Token> some_ids(std::int32_t count, std::int32_t vocab, std::uint32_t seed = 1) {
  std::vector<Token> ids;
  for (std::uint32_t state = seed * 2654435761u; count > 0; --count) {
    state = state * 1664525u + 1013904223u;
    ids.push_back(static_cast<Token>((state >> 8) % static_cast<std::uint32_t>(vocab)));
  }
  return ids;
}

}  // namespace redline::model
