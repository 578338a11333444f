#include "kube/k8s/selector.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "kube/base/scalar.hpp"
#include "kube/base/text.hpp"

namespace kube {

namespace {

/// Splits at commas that are not inside parentheses.
std::vector<std::string_view> terms_of(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      const std::string_view term = trim(text.substr(start, i - start));
      if (!term.empty()) terms.push_back(term);
      start = i + 1;
    }
  }
  return terms;
}

const json::value* at_path(const json::object& object, std::string_view path) {
  const json::object* here = &object;
  while (true) {
    const std::size_t dot = path.find('.');
    const json::value* value = here->if_contains(path.substr(0, dot));
    if (!value || dot == std::string_view::npos) return value;
    here = value->if_object();
    if (!here) return nullptr;
    path.remove_prefix(dot + 1);
  }
}

/// What a field selector compares: servers write booleans and whole numbers as JSON does.
std::optional<std::string> text_of(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_bool() || value.is_int64() || value.is_uint64()) return json::serialize(value);
  return std::nullopt;
}

}  // namespace

/// "size>3" and "size<3".
Result<Selector::Requirement> Selector::parse_comparison(std::string_view term) {
  const std::size_t at = term.find_first_of("<>");
  const std::string_view value = trim(term.substr(at + 1));
  if (!read_number<std::int64_t>(value)) return fail(Errc::parse, "unable to parse requirement: " + std::string(term));
  return Requirement{std::string(trim(term.substr(0, at))),
                     term[at] == '>' ? Operator::greater : Operator::less,
                     {std::string(value)}};
}

Result<Selector> Selector::parse(std::string_view labels, std::string_view fields) {
  Selector selector;
  for (std::string_view term : terms_of(labels)) {
    Requirement requirement{"", Operator::in, {}};
    const std::size_t equals = term.find('=');
    const std::size_t open = term.find('(');
    if (open != std::string_view::npos) {
      if (term.back() != ')') return fail(Errc::parse, "unable to parse requirement: " + std::string(term));
      std::string_view head = trim(term.substr(0, open));
      const std::size_t space = head.find(' ');
      const std::string_view op = space == std::string_view::npos ? "" : trim(head.substr(space));
      if (op != "in" && op != "notin") return fail(Errc::parse, "unable to parse requirement: " + std::string(term));
      requirement.key = head.substr(0, space);
      requirement.op = op == "in" ? Operator::in : Operator::not_in;
      for (std::string_view value : terms_of(term.substr(open + 1, term.size() - open - 2)))
        requirement.values.emplace_back(value);
    } else if (equals != std::string_view::npos) {
      const bool negated = equals > 0 && term[equals - 1] == '!';
      requirement.key = trim(term.substr(0, negated ? equals - 1 : equals));
      std::string_view value = term.substr(equals + 1);
      if (value.starts_with('=')) value.remove_prefix(1);
      requirement.op = negated ? Operator::not_in : Operator::in;
      requirement.values.emplace_back(trim(value));
    } else if (term.find_first_of("<>") != std::string_view::npos) {
      KUBE_TRY(comparison, parse_comparison(term));
      requirement = std::move(comparison);
    } else if (term.front() == '!') {
      requirement.key = trim(term.substr(1));
      requirement.op = Operator::not_exists;
    } else {
      requirement.key = term;
      requirement.op = Operator::exists;
    }
    if (requirement.key.empty() || requirement.key.find_first_of(" <>") != std::string::npos)
      return fail(Errc::parse, "unable to parse requirement: " + std::string(term));
    selector.labels_.push_back(std::move(requirement));
  }
  for (std::string_view term : terms_of(fields)) {
    const std::size_t equals = term.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail(Errc::parse, "invalid field selector: " + std::string(term));
    const bool negated = term[equals - 1] == '!';
    std::string_view value = term.substr(equals + 1);
    if (value.starts_with('=')) value.remove_prefix(1);
    Requirement requirement{std::string(term.substr(0, negated ? equals - 1 : equals)),
                            negated ? Operator::not_in : Operator::in,
                            {std::string(value)}};
    selector.fields_.push_back(std::move(requirement));
  }
  return selector;
}

bool Selector::holds(const Requirement& requirement, const json::value* value) {
  const std::optional<std::string> text = value ? text_of(*value) : std::nullopt;
  const auto listed = [&] { return text && std::ranges::find(requirement.values, *text) != requirement.values.end(); };
  const auto compared = [&](auto holds_for) {
    const auto number = read_number<std::int64_t>(text ? *text : "");
    return number && holds_for(*number, *read_number<std::int64_t>(requirement.values.front()));
  };
  switch (requirement.op) {
    case Operator::exists:
      return value != nullptr;
    case Operator::not_exists:
      return value == nullptr;
    case Operator::in:
      return listed();
    case Operator::not_in:
      return !listed();
    case Operator::greater:
      return compared(std::greater());
    case Operator::less:
      return compared(std::less());
  }
  return false;
}

std::vector<std::string_view> Selector::field_paths() const {
  std::vector<std::string_view> paths;
  paths.reserve(fields_.size());
  for (const Requirement& requirement : fields_) paths.emplace_back(requirement.key);
  return paths;
}

bool Selector::matches_labels(const json::object& object) const {
  return std::ranges::all_of(labels_, [&object](const Requirement& requirement) {
    return holds(requirement, find(object, {"metadata", "labels", requirement.key}));
  });
}

bool Selector::excludes(const json::object& object) const {
  if (!matches_labels(object)) return true;
  return std::ranges::any_of(fields_, [&object](const Requirement& requirement) {
    const json::value* value = at_path(object, requirement.key);
    return value && text_of(*value) && !holds(requirement, value);
  });
}

bool Selector::matches(const json::object& object) const {
  if (!matches_labels(object)) return false;
  static const json::value absent("");
  for (const Requirement& requirement : fields_) {
    // A field that is not there is the empty string: "spec.nodeName=" finds the pods that are not bound.
    const json::value* value = at_path(object, requirement.key);
    if (!holds(requirement, value ? value : &absent)) return false;
  }
  return true;
}

}  // namespace kube
