// SPDX-License-Identifier: Apache-2.0
#include "model/packed_layout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <set>

#include "model/architecture.hpp"
#include "redline/kernels/requantize.hpp"

namespace redline::model {
namespace {

constexpr std::int64_t kAlignment = 4096, kGroupBytes = 1 << 20;
constexpr std::size_t kSampleBytes = 256, kMaxStem = 100;
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;

std::int64_t align(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::string hex(std::uint64_t value) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
  return text;
}

// Two tiles of a fixed pattern, packed: changes when the layout of the type does.
std::uint64_t fingerprint(kernels::WeightType type) {
  const std::int64_t rows = 2 * kernels::kTileRows, cols = 512;
  std::vector<std::byte> pattern(rows * kernels::file_row_bytes(type, cols));
  for (std::size_t i = 0; i < pattern.size(); ++i)
    pattern[i] = static_cast<std::byte>((i * kOdd) >> 56);
  std::vector<std::byte> packed(kernels::packed_bytes(type, rows, cols));
  kernels::pack(type, rows, cols, pattern.data(), packed.data());
  return checksum(packed, static_cast<std::int64_t>(type));
}

// A row of a fixed pattern, quantised: changes when the way of quantising does.
std::uint64_t quantizer_fingerprint() {
  constexpr std::int64_t kCols = 512;
  std::vector<float> row(kCols);
  for (std::int64_t i = 0; i < kCols; ++i)
    row[i] = static_cast<float>(static_cast<std::int64_t>(i * kOdd) >> 40);
  std::vector<std::byte> blocks(kernels::file_row_bytes(kernels::WeightType::Q4_0, kCols));
  kernels::quantize_row_q4_0(row.data(), kCols, blocks.data());
  return checksum(blocks, kCols);
}

std::uint64_t layout_version(const std::vector<PackedEntry>& entries) {
  std::set<kernels::WeightType> types;
  for (const PackedEntry& entry : entries) types.insert(entry.type);
  std::uint64_t version = 0;
  for (const kernels::WeightType type : types) version += fingerprint(type);
  const bool is_new =
      std::ranges::any_of(entries, [](const auto& e) { return e.stored != e.type; });
  return is_new ? version + quantizer_fingerprint() : version;
}

}  // namespace

std::int64_t PackedEntry::tiles() const {
  return (tensor->rows() + kernels::kTileRows - 1) / kernels::kTileRows;
}

std::vector<PackedSource> as_stored(const files::Gguf& file,
                                    const std::vector<std::string>& names) {
  std::vector<PackedSource> matrices;
  for (const std::string& name : names)
    matrices.push_back({name, name, weight_type(file.tensor(name).type)});
  return matrices;
}

PackedLayout packed_layout(const files::Gguf& file, const std::vector<PackedSource>& matrices) {
  PackedLayout layout;
  std::int64_t at = 0;  // in the tiles
  std::string table;
  std::uint64_t sample = 0;  // tells apart files of one header written in one tick of the clock
  for (const auto& [name, of, type] : matrices) {
    const files::Tensor& tensor = file.tensor(of);
    const kernels::WeightType stored = weight_type(tensor.type);
    const std::int64_t tile = kernels::tile_bytes(type, tensor.cols());
    layout.entries.push_back({name, &tensor, stored, type, at,
                              kernels::packed_bytes(type, tensor.rows(), tensor.cols()),
                              std::max<std::int64_t>(1, kGroupBytes / tile)});
    table += name + " " + std::string(kernels::name(type)) + " " + std::to_string(tensor.cols()) +
             " " + std::to_string(tensor.rows()) +
             (stored == type ? "" : " from " + of + " " + std::string(kernels::name(stored))) +
             "\n";
    at = align(at + layout.entries.back().bytes);
    sample += checksum(tensor.bytes.first(std::min(tensor.bytes.size(), kSampleBytes)), at);
  }
  const std::string version = hex(layout_version(layout.entries));
  const std::string hash = file.header_sha256();
  const auto changed = std::filesystem::last_write_time(file.path()).time_since_epoch().count();
  layout.head = "redline packed weights\nmodel " + hash + " bytes " +
                std::to_string(file.file_bytes()) + " changed " + std::to_string(changed) +
                " sample " + hex(sample) + "\nlayout " + version + "\n" + table;
  layout.file_name =
      file.path().stem().string().substr(0, kMaxStem) + "-" + hash.substr(0, 12) + "-" +
      hex((static_cast<std::uint64_t>(changed) ^ file.file_bytes() * kOdd) + sample) + "-" +
      version.substr(0, 8) + ".weights";
  layout.sums_offset = align(static_cast<std::int64_t>(layout.head.size()));
  const std::int64_t first =
      align(layout.sums_offset + static_cast<std::int64_t>(matrices.size() * 8));
  for (PackedEntry& entry : layout.entries) entry.offset += first;
  layout.file_bytes = first + at;
  return layout;
}

std::uint64_t checksum(std::span<const std::byte> bytes, std::int64_t group) {
  std::array<std::uint64_t, 4> lanes{kOdd, kOdd * 3, kOdd * 5, static_cast<std::uint64_t>(group)};
  const std::size_t whole = bytes.size() / 32 * 32;
  std::uint64_t word[4] = {};
  const auto mix = [&](const std::byte* from, std::size_t size) {
    std::memcpy(word, from, size);
    for (int i = 0; i < 4; ++i) lanes[i] = std::rotl((lanes[i] ^ word[i]) * kOdd, 29);
  };
  for (std::size_t at = 0; at < whole; at += 32) mix(bytes.data() + at, 32);
  std::memset(word, 0, sizeof word);
  if (whole < bytes.size()) mix(bytes.data() + whole, bytes.size() - whole);
  std::uint64_t sum = bytes.size();
  for (const std::uint64_t lane : lanes) sum = std::rotl((sum ^ lane) * kOdd, 31);
  return sum;
}

}  // namespace redline::model
