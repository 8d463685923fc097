// SPDX-License-Identifier: Apache-2.0
#include "redline/new.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "plugin/registry.hpp"

namespace redline::tool {
namespace {

namespace fs = std::filesystem;

// Where the templates lie: in the source tree for a program in its build folder, else beside it.
fs::path template_folder() {
  const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
  if (programs == fs::weakly_canonical(REDLINE_BUILD_PROGRAMS)) return REDLINE_SOURCE_TEMPLATES;
  return fs::weakly_canonical(programs / REDLINE_TEMPLATES_FROM_PROGRAM);
}

// The name becomes a file, a CMake target and a word in configs, so it is plain in all of them.
void check_name(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name.empty() || name.size() > 64 || name[0] < 'a' || name[0] > 'z' ||
      !std::all_of(name.begin(), name.end(), is_plain))
    throw InputError("'" + name +
                     "' is no plugin name: write up to 64 lower-case letters, digits and "
                     "underscores, a letter first, e.g. my_rule");
  for (const char* target : {"all", "clean", "help", "install", "package", "test"})
    if (name == target)
      throw InputError("'" + name + "' is a target of every CMake build; choose another name");
  for (const plugin::Listing& known : plugin::Registry({}, {}).list())
    if (known.name == name)
      throw InputError("a plugin '" + name + "' is there already, in " + known.from.path.string() +
                       "; choose another name");
}

std::string spoken(const std::string& kind) { return kind == "length" ? "length policy" : kind; }

std::string filled(const fs::path& file, const NewOptions& options) {
  std::ifstream in(file);
  std::stringstream read;
  if (!(read << in.rdbuf()))
    throw Error(file.string() + " cannot be read, a part of this redline; install it anew");
  std::string text = read.str();
  const std::array<std::pair<std::string_view, std::string>, 2> words{
      {{"@NAME@", options.name}, {"@KIND@", spoken(options.kind)}}};
  for (const auto& [mark, word] : words)
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += word.size())
      text.replace(at, mark.size(), word);
  return text;
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  if (!(out << text).flush()) throw InputError(file.string() + " cannot be written");
}

// A folder that was not there; its parents may be.
void make_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error))
    throw InputError(folder.string() + " exists already; choose another name or --dir");
  if (!fs::create_directories(folder, error))
    throw InputError(folder.string() + " cannot be made: " + error.message());
}

}  // namespace

int make_new(const NewOptions& options) {
  check_name(options.name);
  const fs::path from = template_folder(), folder = options.dir / options.name;
  const std::array<std::pair<std::string, std::string>, 6> files{
      {{options.kind + ".cpp.in", options.name + ".cpp"},
       {options.kind + "_test.cpp.in", options.name + "_test.cpp"},
       {options.kind + ".yaml.in", "experiment.yaml"},
       {"CMakeLists.txt.in", "CMakeLists.txt"},
       {"README.md.in", "README.md"},
       {"prompts.jsonl.in", "prompts.jsonl"}}};
  std::vector<std::string> texts;  // all read before anything is made
  for (const auto& [source, name] : files) texts.push_back(filled(from / source, options));
  make_folder(folder);
  for (std::size_t k = 0; k < files.size(); ++k) write(folder / files[k].second, texts[k]);
  std::printf("%s: a %s in %s.cpp; README.md says how to build and run it\n",
              folder.string().c_str(), spoken(options.kind).c_str(), options.name.c_str());
  return 0;
}

}  // namespace redline::tool
