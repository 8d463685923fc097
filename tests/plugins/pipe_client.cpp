// SPDX-License-Identifier: Apache-2.0
// The other end of draft_pipe, by the byte offsets of its README alone: well behaved, or wrong in
// the way its argument names.
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

const char* memory() {
  struct stat file{};
  ::fstat(3, &file);
  return static_cast<const char*>(::mmap(nullptr, static_cast<std::size_t>(file.st_size),
                                         PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0));
}
template <class T>
T read_at(const char* m, std::int64_t at) {
  T value;
  std::memcpy(&value, m + at, sizeof value);
  return value;
}
template <class T>
void write_at(const char* m, std::int64_t at, const std::vector<T>& values) {
  std::memcpy(const_cast<char*>(m) + at, values.data(), values.size() * sizeof(T));
}
void say(const char* bytes) {
  if (::write(4, bytes, std::strlen(bytes)) < 0) ::_exit(1);
}

// What follows the last token is the next id, or by rows maybe the one after; wrong for asks that
// begin with the token 7.
void answer(const char* m, int k, const std::string& how) {
  const std::int64_t ask = 64 + 40 * k;
  const auto vocab = read_at<std::int32_t>(m, 12), tokens = read_at<std::int32_t>(m, ask + 16);
  const auto text = read_at<std::int64_t>(m, ask + 8);
  const auto last = read_at<std::int32_t>(m, text + 4 * (tokens - 1));
  const auto counts = read_at<std::int64_t>(m, 32) + 4 * k;
  const auto payload = read_at<std::int64_t>(m, 40) + k * read_at<std::int64_t>(m, 48);
  const bool is_wrong = read_at<std::int32_t>(m, text) == 7;
  if (is_wrong && how == "unanswered") return;
  if (read_at<std::int32_t>(m, 8) == 1) {
    std::vector<float> row(vocab, 0.F);
    row[(last + 1) % vocab] = is_wrong && how == "sum" ? .5F : .75F;
    row[(last + 2) % vocab] = .25F;
    if (is_wrong && how == "nan") row[0] = NAN;
    write_at<std::int32_t>(m, counts, {is_wrong && how == "rows" ? 2 : how != "stops"});
    write_at(m, payload, row);
    return;
  }
  const auto nodes = read_at<std::int32_t>(m, ask + 28);
  std::vector<std::int32_t> given;
  for (std::int32_t n = 0; n < nodes; ++n) {
    given.push_back(how == "star" ? 0 : n);
    given.push_back((last + 1 + n) % vocab);
  }
  if (is_wrong && how == "token") given[1] = vocab;
  if (is_wrong && how == "parent") given[2] = 2;
  const bool is_long = is_wrong && how == "nodes";
  write_at<std::int32_t>(m, counts, {is_long ? nodes + 1 : nodes});
  write_at(m, payload, given);
}

}  // namespace

int main(int, char** arguments) {
  const std::string how = arguments[1];
  if (how == "never ready") ::pause();
  say("!");
  for (char byte = 0; ::read(4, &byte, 1) == 1;) {
    if (how == "dies") ::raise(SIGKILL);
    if (how == "leaves") return 3;
    if (how == "hangs") ::pause();
    const char* m = memory();
    for (int k = 0; k < read_at<std::int32_t>(m, 16); ++k) answer(m, k, how);
    if (how == "says who ended" && read_at<std::int32_t>(m, 20) == 1) {
      const auto id = read_at<std::int64_t>(m, read_at<std::int64_t>(m, 24));
      write_at<std::int32_t>(m, read_at<std::int64_t>(m, 40) + 4, {static_cast<std::int32_t>(id)});
    }
    say(how == "twice" ? "!!" : how == "wrong byte" ? "x" : "!");
  }
  return 0;
}
