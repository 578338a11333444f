#include "kube/k8s/selector.hpp"

#include <algorithm>

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

}  // namespace

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
    } else if (term.front() == '!') {
      requirement.key = trim(term.substr(1));
      requirement.op = Operator::not_exists;
    } else {
      requirement.key = term;
      requirement.op = Operator::exists;
    }
    if (requirement.key.empty() || requirement.key.contains(' '))
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
  const auto listed = [&](std::string_view text) {
    return std::ranges::find(requirement.values, text) != requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::exists:
      return value != nullptr;
    case Operator::not_exists:
      return value == nullptr;
    case Operator::in:
      return value && value->is_string() && listed(value->get_string());
    case Operator::not_in:
      return !value || !value->is_string() || !listed(value->get_string());
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
    return value && value->is_string() && !holds(requirement, value);
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
