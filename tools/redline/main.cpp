// SPDX-License-Identifier: Apache-2.0
// The command line: every command's flags and help, nothing of what they do.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "redline/error.hpp"

namespace {

// Each add_* gives the program one command; its callback stores the exit code.
// (one function a command, in alphabetical order)

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"redline: draft/verify decoding of large language models"};
  app.require_subcommand(1);
  int code = 0;
  try {
    app.parse(argc, argv);
    return code;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const redline::InputError& e) {
    std::fprintf(stderr, "redline: %s\n", e.what());
    return 2;
  } catch (const redline::PluginError& e) {
    std::fprintf(stderr, "redline: %s\n", e.what());
    return 3;
  } catch (const redline::DeviceError& e) {
    std::fprintf(stderr, "redline: %s\n", e.what());
    return 4;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "redline: %s\n", e.what());
    return 1;
  }
}
