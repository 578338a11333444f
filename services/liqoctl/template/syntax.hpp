// The tree of a Helm template: Go's text/template, as far as the chart of this project uses it.
// Tested by test/unit/liqoctl/template/template_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/json.hpp"

namespace liqoctl::chart {

struct Pipeline;

/// One word of a command: a literal, `.a.b`, `$x.a`, a pipeline in parentheses, or the name of a function.
struct Operand {
  enum class Kind { literal, dot, variable, pipeline, function };
  Kind kind = Kind::literal;
  kube::json::value literal;           ///< of a literal
  std::string name;                    ///< of a variable (without $) or a function
  std::vector<std::string> path = {};  ///< the fields after it
  std::shared_ptr<const Pipeline> inner = {};
};

/// A function with its arguments, or one operand.
struct Call {
  std::vector<Operand> words;
};

/// `$x := call | call`. Each call gets the value of the one before it as its last argument.
struct Pipeline {
  std::size_t line = 0;
  std::vector<std::string> variables = {};  ///< those that it sets, two for a range over keys and values
  bool declares = false;                    ///< := and not =
  std::vector<Call> calls = {};
};

struct Node;
using Block = std::vector<Node>;

struct Node {
  enum class Kind { text, action, condition, with, range };
  Kind kind = Kind::text;
  std::string text = {};
  Pipeline pipeline = {};
  Block body = {}, otherwise = {};
};

/// The content of a file: its own text, and templates that it defines by name.
struct Parsed {
  Block body;
  std::map<std::string, Block, std::less<>> defined;
};

/// Reads one file of at most 1 MiB. Errors: Errc::parse and Errc::unsupported, with the line.
kube::Result<Parsed> parse_template(std::string_view text);

}  // namespace liqoctl::chart
