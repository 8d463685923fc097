// SPDX-License-Identifier: Apache-2.0
#include "redline/plugins.hpp"

#include <algorithm>
#include <cstdio>

#include "files/json.hpp"
#include "plugin/registry.hpp"

namespace redline::tool {
namespace {

namespace json = files::json;
using plugin::Listing, plugin::Parameter;

json::object facts(const Listing& l) {
  json::array parameters;
  for (const Parameter& p : l.parameters)
    parameters.push_back({{"name", p.name},
                          {"type", p.type},
                          {"default", p.fallback},
                          {"range", p.range},
                          {"about", p.about}});
  return {{"kind", plugin::word_for(l.kind)},
          {"name", l.name},
          {"about", l.about},
          {"parameters", parameters},
          {"path", l.from.path.string()},
          {"sha256", l.from.sha256},
          {"build", l.from.build_tag}};
}

using Cells = std::vector<std::string>;

// Columns as wide as their widest cell, two spaces between; the last one runs on.
void print_table(const std::vector<Cells>& lines, const char* indent) {
  std::vector<std::size_t> width(lines.empty() ? 0 : lines.front().size());
  for (const Cells& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
  for (const Cells& line : lines) {
    std::string text = indent;
    for (std::size_t c = 0; c < line.size(); ++c) {
      text += line[c];
      if (c + 1 < line.size()) text.append(width[c] - line[c].size() + 2, ' ');
    }
    std::printf("%s\n", text.c_str());
  }
}

void print_all(const std::vector<Listing>& all) {
  std::vector<Cells> lines;
  for (const Listing& l : all)
    lines.push_back({std::string(plugin::word_for(l.kind)), l.name, l.about});
  print_table(lines, "");
}

void print_one(const Listing& l) {
  std::printf("%s (%s): %s\n\n", l.name.c_str(), std::string(plugin::word_for(l.kind)).c_str(),
              l.about.c_str());
  std::vector<Cells> lines;
  for (const Parameter& p : l.parameters)
    lines.push_back({p.name, p.range.empty() ? p.type : p.type + ", " + p.range,
                     p.fallback.empty() ? "no default" : "default " + p.fallback, p.about});
  std::printf(lines.empty() ? "takes no parameters\n" : "parameters\n");
  print_table(lines, "  ");
  std::printf("\nfile    %s\nsha256  %s\nbuild   %s\n", l.from.path.c_str(), l.from.sha256.c_str(),
              l.from.build_tag.c_str());
}

}  // namespace

int plugins(const PluginsOptions& options) {
  const plugin::Registry registry(options.files, options.folders);
  for (const std::string& warning : registry.warnings())
    std::fprintf(stderr, "redline: warning: %s\n", warning.c_str());
  std::vector<Listing> chosen = registry.list();
  if (!options.name.empty()) chosen = {registry.find(options.name)};
  if (options.json) {
    json::array all;
    for (const Listing& l : chosen) all.push_back(facts(l));
    std::printf("%s\n", json::serialize(options.name.empty() ? all : all.front()).c_str());
  } else if (options.name.empty()) {
    print_all(chosen);
  } else {
    print_one(chosen.front());
  }
  return 0;
}

}  // namespace redline::tool
