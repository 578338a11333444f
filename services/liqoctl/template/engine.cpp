#include "template/engine.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "template/functions.hpp"

namespace liqoctl::chart {

namespace json = kube::json;
using kube::Errc;

namespace {

constexpr std::size_t max_output = std::size_t{8} << 20;
constexpr std::size_t max_steps = 200'000;
constexpr int max_includes = 50;

}  // namespace

/// One run. The first failure stops it: from then on each step does nothing.
class Evaluation {
 public:
  explicit Evaluation(const Engine& engine) : engine_(engine) {}

  std::string run(std::string_view name, const json::value& dot) {
    const auto found = engine_.templates_.find(name);
    if (found == engine_.templates_.end()) return refuse(Errc::invalid_input, "no template " + std::string(name));
    if (++includes_ > max_includes) return refuse(Errc::too_large, "templates include each other without end");
    const auto path = std::exchange(path_, found->second.path);
    const auto line = std::exchange(line_, 1);
    const auto variables = std::exchange(variables_, {{"", dot}});
    std::string out;
    block(found->second.body, dot, out);
    --includes_;
    if (!failure_) {
      path_ = path;
      line_ = line;
      variables_ = variables;
    }
    return out;
  }

  std::optional<kube::Failure> take_failure() { return std::move(failure_); }

 private:
  std::string refuse(Errc code, const std::string& what) {
    if (!failure_) failure_ = kube::Failure(code, path_ + ":" + std::to_string(line_) + ": " + what);
    return {};
  }

  void block(const Block& nodes, const json::value& dot, std::string& out) {
    const std::size_t known = variables_.size();
    for (const Node& node : nodes) {
      if (failure_) return;
      if (++steps_ > max_steps || out.size() > max_output) {
        refuse(Errc::too_large, "the templates make too much");
        return;
      }
      if (node.kind == Node::Kind::text) {
        out += node.text;
      } else {
        evaluate(node, dot, out);
      }
    }
    if (!failure_) variables_.resize(known);
  }

  void evaluate(const Node& node, const json::value& dot, std::string& out) {
    const std::size_t known = variables_.size();
    const json::value value = evaluate(node.pipeline, dot, node.kind == Node::Kind::range);
    if (failure_) return;
    if (node.kind == Node::Kind::action) {
      if (!node.pipeline.variables.empty()) return;
      if (auto text = printed(value))
        out += *text;
      else
        refuse(text.error().code(), text.error().text());
      return;
    }
    if (is_false(value))
      block(node.otherwise, dot, out);
    else if (node.kind == Node::Kind::range)
      range(node, value, out);
    else
      block(node.body, node.kind == Node::Kind::with ? value : dot, out);
    if (!failure_) variables_.resize(known);
  }

  void range(const Node& node, const json::value& over, std::string& out) {
    const auto& names = node.pipeline.variables;
    const auto once = [&](const json::value& key, const json::value& item) {
      const std::size_t known = variables_.size();
      if (names.size() == 2) variables_.emplace_back(names[0], key);
      if (!names.empty()) variables_.emplace_back(names.back(), item);
      block(node.body, item, out);
      if (!failure_) variables_.resize(known);
    };
    if (const auto* list = over.if_array()) {
      for (std::size_t i = 0; i < list->size() && !failure_; ++i) once(std::int64_t(i), (*list)[i]);
    } else if (const auto* object = over.if_object()) {
      std::map<std::string_view, const json::value*> sorted;
      for (const auto& [key, item] : *object) sorted.emplace(key, &item);
      for (const auto& [key, item] : sorted)
        if (!failure_) once(json::value(key), *item);
    } else {
      refuse(Errc::invalid_input, "range goes over a list or a map");
    }
  }

  json::value evaluate(const Pipeline& pipeline, const json::value& dot, bool is_range = false) {
    line_ = pipeline.line;
    if (++steps_ > max_steps) return json::value(refuse(Errc::too_large, "the templates make too much"));
    std::optional<json::value> last;
    for (const Call& call : pipeline.calls) {
      last = evaluate(call, dot, last);
      if (failure_) return nullptr;
    }
    json::value value = last ? std::move(*last) : json::value();
    if (!pipeline.variables.empty() && !is_range) {
      if (pipeline.declares) {
        variables_.emplace_back(pipeline.variables.front(), value);
      } else if (json::value* there = variable(pipeline.variables.front())) {
        *there = value;
      }
    }
    return value;
  }

  json::value* variable(const std::string& name) {
    for (auto& [known, value] : std::views::reverse(variables_))
      if (known == name) return &value;
    refuse(Errc::invalid_input, "$" + name + " is not known");
    return nullptr;
  }

  json::value evaluate(const Call& call, const json::value& dot, const std::optional<json::value>& piped) {
    const Operand& first = call.words.front();
    std::vector<json::value> arguments;
    if (first.kind == Operand::Kind::function && (first.name == "and" || first.name == "or"))
      return choose(call, dot, piped, first.name == "or");
    for (const Operand& word : std::span(call.words).subspan(1)) {
      arguments.push_back(evaluate(word, dot));
      if (failure_) return nullptr;
    }
    if (piped) arguments.push_back(*piped);
    if (first.kind == Operand::Kind::function) return function(first.name, arguments);
    if (first.path.size() >= 2 && first.path.back() == "Get" && first.path[first.path.size() - 2] == "Files")
      return file(arguments);
    if (!arguments.empty()) {
      refuse(Errc::unsupported, "only functions take arguments");
      return nullptr;
    }
    return evaluate(first, dot);
  }

  /// `and` and `or` evaluate no more of their arguments than they need.
  json::value choose(const Call& call, const json::value& dot, const std::optional<json::value>& piped, bool wanted) {
    json::value value;
    for (const Operand& word : std::span(call.words).subspan(1)) {
      value = evaluate(word, dot);
      if (failure_ || !is_false(value) == wanted) return value;
    }
    return piped ? *piped : value;
  }

  json::value evaluate(const Operand& word, const json::value& dot) {
    switch (word.kind) {
      case Operand::Kind::literal:
        return word.literal;
      case Operand::Kind::dot:
        return field(dot, word.path);
      case Operand::Kind::function:
        return function(word.name, {});
      case Operand::Kind::pipeline:
        return field(evaluate(*word.inner, dot), word.path);
      case Operand::Kind::variable:
        break;
    }
    const json::value* value = variable(word.name);
    return value ? field(*value, word.path) : json::value();
  }

  json::value field(const json::value& from, const std::vector<std::string>& path) {
    const json::value* at = &from;
    static const json::value nothing;
    for (const std::string& name : path) {
      if (failure_) return nullptr;
      const auto* object = at->if_object();
      if (!object) {
        refuse(Errc::invalid_input, "there is no ." + name + (at->is_null() ? " of nothing" : " of what is no map"));
        return nullptr;
      }
      const json::value* found = object->if_contains(name);
      at = found ? found : &nothing;
    }
    return *at;
  }

  json::value file(const std::vector<json::value>& arguments) {
    if (arguments.size() == 1 && arguments[0].is_string())
      if (const auto found = engine_.files_.find(std::string_view(arguments[0].get_string()));
          found != engine_.files_.end())
        return json::value(found->second);
    refuse(Errc::invalid_input, "the chart has no such file");
    return nullptr;
  }

  json::value function(const std::string& name, const std::vector<json::value>& arguments) {
    if (name == "include") {
      if (arguments.size() != 2 || !arguments[0].is_string())
        return json::value(refuse(Errc::invalid_input, "include takes the name of a template and its dot"));
      return json::value(run(std::string_view(arguments[0].get_string()), arguments[1]));
    }
    if (name == "fail" && arguments.size() == 1 && arguments[0].is_string()) {
      // A message for the user, so without the path and line of the template.
      if (!failure_) failure_ = kube::Failure(Errc::invalid_input, std::string(arguments[0].get_string()));
      return nullptr;
    }
    auto value = call_function(name, arguments);
    if (value) return std::move(*value);
    refuse(value.error().code(), name + ": " + value.error().text());
    return nullptr;
  }

  const Engine& engine_;
  std::string path_;
  std::size_t line_ = 1, steps_ = 0;
  int includes_ = 0;
  std::vector<std::pair<std::string, json::value>> variables_;
  std::optional<kube::Failure> failure_;
};

kube::Result<Engine> Engine::read(std::span<const File> files) {
  Engine engine;
  for (const File& file : files) {
    engine.files_.emplace(file.path, file.text);
    if (!file.path.starts_with("templates/")) continue;
    auto parsed = parse_template(file.text);
    if (!parsed)
      return std::unexpected(
          kube::Failure(parsed.error().code(), std::string(file.path) + ":" + parsed.error().text()));
    engine.templates_.insert_or_assign(std::string(file.path),
                                       Template{std::string(file.path), std::move(parsed->body)});
    for (auto& [name, body] : parsed->defined)
      engine.templates_.insert_or_assign(name, Template{std::string(file.path), std::move(body)});
  }
  return engine;
}

kube::Result<std::string> Engine::render(std::string_view name, const json::object& root) const {
  Evaluation run(*this);
  std::string text = run.run(name, root);
  if (auto failure = run.take_failure()) return std::unexpected(std::move(*failure));
  return text;
}

std::vector<std::string> Engine::objects() const {
  std::vector<std::string> out;
  for (const auto& [name, made] : templates_)
    if (name == made.path && !name.starts_with("templates/_") && !name.ends_with("NOTES.txt")) out.push_back(name);
  return out;
}

}  // namespace liqoctl::chart
