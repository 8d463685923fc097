// SPDX-License-Identifier: Apache-2.0
// test_endless_trace FILE LEVEL: writes request after request until it is killed, and prints each
// one's number when request() has returned: what is printed must be found in the file.
#include <unistd.h>

#include <string>
#include <string_view>

#include "trace/schema.hpp"
#include "trace/synthetic.hpp"
#include "trace/writer.hpp"

int main(int argc, char** argv) {
  using namespace redline::trace;
  if (argc != 3) return 2;
  const Level level = std::string_view(argv[2]) == "full" ? Level::FULL : Level::TOPK;
  WriterOptions options;
  options.flush_every = std::chrono::milliseconds(7);  // flushes in the midst of requests too
  options.format = std::string_view(argv[2]) == "old" ? FileFormat::OLD : FileFormat::AUTO;
  Writer writer(argv[1], synthetic::header(level), options);
  for (std::uint32_t r = 0;; ++r) {
    for (std::uint32_t s = 0; s < synthetic::steps(r); ++s) {
      writer.step(synthetic::step(r, s, level));
      writer.batch(synthetic::batch(r, s));
    }
    writer.request(synthetic::request(r));
    const std::string line = std::to_string(r) + "\n";
    if (write(STDOUT_FILENO, line.data(), line.size()) < 0) return 1;
  }
}
