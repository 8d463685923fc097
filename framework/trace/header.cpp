// SPDX-License-Identifier: Apache-2.0
#include "trace/header.hpp"

#include <chrono>
#include <ctime>

#include "trace/schema.hpp"

namespace redline::trace {
namespace {

using hdf5::Type;

template <class Clock>
std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, size};
}

void encode(const hdf5::Object& object, std::string_view type) {
  object.attribute("encoding-type", type);
  object.attribute("encoding-version", schema::kVersion);
}

void write_root(const hdf5::Object& root, const Header& header) {
  const std::int32_t version[] = {schema::kMajor, schema::kMinor};
  root.attribute("format", schema::kFormat);
  root.attribute("format_version", Type::I32, version, 2);
  root.attribute("format_version_text", schema::kVersion);
  root.attribute("creator", "redline");
  root.attribute("creator_version", REDLINE_VERSION);
  root.attribute("run_id", header.run_id);
  root.attribute("cell", header.cell);
  root.attribute("attempt", Type::I32, &header.attempt);
  root.attribute("created_utc", utc_now());
  root.attribute("config_sha256", header.config_sha256);
  root.attribute("level", schema::name_of(header.level));
  root.attribute("reproducible", header.reproducible ? "yes" : "no");
  root.padded_attribute("state", "open", kStateWidth);
  encode(root, "redline-trace");
}

void write_text(hdf5::File& file, const char* path, std::string_view text, std::string_view what) {
  const hdf5::Object made = file.text(path, text);
  encode(made, "string");
  made.attribute("description", what);
}

// Steady-clock times of the tables and the calendar, at one moment.
void write_clock(hdf5::File& file) {
  const std::int64_t monotonic_ns = now_ns<std::chrono::steady_clock>();
  const std::int64_t unix_ns = now_ns<std::chrono::system_clock>();
  const hdf5::Object clock = file.group("/meta/clock");
  encode(clock, "attributes");
  clock.attribute("name", "CLOCK_MONOTONIC");
  clock.attribute("units", "ns");
  clock.attribute("monotonic_ns", Type::I64, &monotonic_ns);
  clock.attribute("unix_ns", Type::I64, &unix_ns);
}

}  // namespace

void write_header(hdf5::File& file, const Header& header) {
  write_root(file.group("/"), header);
  for (const char* group : {"/meta", "/models", "/plugins", "/dataset"})
    encode(file.group(group), "group");
  write_text(file, "/meta/config_yaml", header.config_yaml, "the config as given");
  write_text(file, "/meta/config_resolved", header.config_resolved,
             "the config in force, every default written");
  write_text(file, "/meta/provenance", header.provenance, "code, machine and environment, JSON");
  write_text(file, "/meta/overrides", header.overrides, "key=value given on the command line");
  write_clock(file);
  for (const Attributes& each : header.attributes) {
    const hdf5::Object group = file.group(each.group);
    encode(group, "attributes");
    for (const auto& [name, value] : each.values) group.attribute(name.c_str(), value);
  }
  const hdf5::Object categories = file.texts("/dataset/categories", header.categories);
  encode(categories, "string-array");
  categories.attribute("description", "what /requests/category counts");
}

void describe_logits(hdf5::File& file, const Header& header) {
  if (header.level == Level::COUNTS) return;
  encode(file.group("/logits"), "group");
  const std::int32_t k = header.level >= Level::TOPK ? header.topk : 0;
  for (const char* path : {"/logits/target", "/logits/draft"}) {
    const hdf5::Object group = file.group(path);
    group.attribute("k", Type::I32, &k);
    group.attribute("vocab", Type::I32, &header.vocab);
    group.attribute("policy", "every row the engine hands over");
    group.attribute("transform", "raw");
  }
}

}  // namespace redline::trace
