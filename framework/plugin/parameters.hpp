// SPDX-License-Identifier: Apache-2.0
// Parameters as text: what a plugin declares, what a user wrote, and the one reading of both.
#pragma once
#include <string>
#include <vector>

#include "redline/plugin.hpp"

namespace redline::plugin {

// One parameter as the user wrote it, and where ("quickstart.yaml:14"), for the error.
struct Argument {
  std::string name, value, where;
};
using Arguments = std::vector<Argument>;

struct Parameter {  // as declared by visit()
  std::string name, type, fallback, range, about;
};

// Fills a parameter struct from arguments and notes what it declares. The note's fallback is the
// value in force after reading.
class Reader final : public ParameterVisitor {
 public:
  // plugin: for messages. InputError: a parameter named twice.
  Reader(std::string plugin, Arguments arguments);
  void operator()(std::string_view, int&, Range, std::string_view about) override;
  void operator()(std::string_view, double&, Range, std::string_view about) override;
  void operator()(std::string_view, bool&, std::string_view about) override;
  void operator()(std::string_view, std::string&, std::string_view about) override;
  void operator()(std::string_view, std::string&, Choices, std::string_view about) override;
  // InputError: an argument no visit asked for.
  void finish() const;
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  const Argument* take(std::string_view name);
  [[noreturn]] void refuse(const Argument& argument, const std::string& wanted) const;
  template <class T>
  void number(std::string_view name, T& value, Range range, std::string_view type,
              std::string_view about);
  void note(std::string_view name, std::string_view type, std::string value, std::string range,
            std::string_view about);
  std::string plugin_;
  Arguments arguments_;
  std::vector<bool> taken_;  // [arguments]
  std::vector<Parameter> parameters_;
};

}  // namespace redline::plugin
