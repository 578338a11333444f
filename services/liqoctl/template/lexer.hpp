// The pieces of a template: plain text, and actions as lists of tokens.
// Tested by test/unit/liqoctl/template/template_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/base/failure.hpp"

namespace liqoctl::chart {

struct Token {
  enum class Kind { word, field, variable, string, number, mark };
  Kind kind = Kind::word;
  std::string text;    ///< of a string its value; of a field with its dots; of a variable without $
  bool spaced = true;  ///< a blank is before it
};

/// Text between actions, or one action; comments are neither.
struct Piece {
  bool is_action = false;
  std::size_t line = 0;
  std::string text = {};
  std::vector<Token> tokens = {};
};

/// Splits the text, and removes the white space that `{{-` and `-}}` trim. Errors: Errc::parse, with the line.
kube::Result<std::vector<Piece>> split_template(std::string_view text);

}  // namespace liqoctl::chart
