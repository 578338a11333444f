#include "core/common/node_selector.hpp"

#include <algorithm>
#include <optional>

#include "core/common/names.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/scalar.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// The only field in matchFields that Kubernetes knows (k8s.io/api core/v1 NodeSelectorTerm.matchFields).
constexpr std::string_view name_field = "metadata.name";

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return kube::read_number<std::int64_t>(text);
}

}  // namespace

bool matches_something(const json::value& term) {
  return !kube::array_at(term, {"matchExpressions"}).empty() || !kube::array_at(term, {"matchFields"}).empty();
}

kube::Result<NodeSelector::Requirement> NodeSelector::parse_requirement(const json::value& entry, bool field,
                                                                        std::string path) {
  const auto refuse = [&path](std::string_view problem) {
    return kube::fail(kube::Errc::invalid_input, path + ": " + std::string(problem));
  };
  if (!entry.is_object()) return refuse("must be an object with key and operator");
  Requirement made{.key = std::string(kube::string_at(entry, {"key"})), .op = Operator::in, .values = {}};
  if (field ? made.key != name_field : !is_label_key(made.key))
    return refuse(field ? "key must be metadata.name, and is " + kube::in_quotes(made.key)
                        : kube::in_quotes(made.key) + " is not the key of a label");

  constexpr std::pair<std::string_view, Operator> operators[] = {
      {"In", Operator::in},      {"NotIn", Operator::not_in}, {"Exists", Operator::exists},
      {"Gt", Operator::greater}, {"Lt", Operator::less},      {"DoesNotExist", Operator::does_not_exist}};
  const std::string_view name = kube::string_at(entry, {"operator"});
  const auto* known = std::ranges::find(operators, name, &std::pair<std::string_view, Operator>::first);
  if (known == std::end(operators))
    return refuse("operator " + kube::in_quotes(name) + " is none of In, NotIn, Exists, DoesNotExist, Gt and Lt");
  made.op = known->second;
  if (field && made.op != Operator::in && made.op != Operator::not_in)
    return refuse("a field can only be matched with In and NotIn");

  if (const json::value* values = kube::find(entry, {"values"}); values && !values->is_null()) {
    if (!values->is_array()) return refuse("values must be a list");
    for (const json::value& value : values->get_array()) {
      if (!value.is_string()) return refuse("values must be strings");
      made.values.emplace_back(value.get_string());
    }
  }
  const std::string op(name);
  switch (made.op) {
    case Operator::in:
    case Operator::not_in:
      if (field && made.values.size() != 1) return refuse("a field needs exactly one value");
      if (made.values.empty()) return refuse(op + " needs at least one value");
      for (const std::string& value : made.values)
        if (!field && !is_label_value(value)) return refuse(kube::in_quotes(value) + " cannot be the value of a label");
      break;
    case Operator::exists:
    case Operator::does_not_exist:
      if (!made.values.empty()) return refuse(op + " takes no values");
      break;
    case Operator::greater:
    case Operator::less: {
      if (made.values.size() != 1) return refuse(op + " needs exactly one value");
      const auto bound = parse_integer(made.values.front());
      if (!bound) return refuse(op + " needs an integer, not " + kube::in_quotes(made.values.front()));
      made.bound = *bound;
      break;
    }
  }
  return made;
}

kube::Result<std::vector<NodeSelector::Requirement>> NodeSelector::parse_requirements(const json::value& term,
                                                                                      bool fields, std::string path) {
  std::vector<Requirement> made;
  const std::string_view name = fields ? "matchFields" : "matchExpressions";
  const json::value* list = kube::find(term, {name});
  if (!list || list->is_null()) return made;
  path += "." + std::string(name);
  if (!list->is_array()) return kube::fail(kube::Errc::invalid_input, path + ": must be a list");
  for (const json::value& entry : list->get_array()) {
    KUBE_TRY(parsed, parse_requirement(entry, fields, path + "[" + std::to_string(made.size()) + "]"));
    made.push_back(std::move(parsed));
  }
  return made;
}

kube::Result<NodeSelector> NodeSelector::parse(const json::object& selector) {
  NodeSelector made;
  const json::value* terms = selector.if_contains("nodeSelectorTerms");
  if (!terms || terms->is_null()) return made;
  if (!terms->is_array()) return kube::fail(kube::Errc::invalid_input, "nodeSelectorTerms: must be a list");
  for (const json::value& entry : terms->get_array()) {
    const std::string path = "nodeSelectorTerms[" + std::to_string(made.terms_.size()) + "]";
    if (!entry.is_object() && !entry.is_null())
      return kube::fail(kube::Errc::invalid_input, path + ": must be an object");
    KUBE_TRY(expressions, parse_requirements(entry, false, path));
    KUBE_TRY(fields, parse_requirements(entry, true, path));
    made.terms_.push_back({std::move(expressions), std::move(fields)});
  }
  return made;
}

bool NodeSelector::holds(const Requirement& requirement, const std::string_view* value) {
  const auto is_listed = [&] { return std::ranges::find(requirement.values, *value) != requirement.values.end(); };
  switch (requirement.op) {
    case Operator::in:
      return value && is_listed();
    case Operator::not_in:
      return !value || !is_listed();
    case Operator::exists:
      return value;
    case Operator::does_not_exist:
      return !value;
    case Operator::greater:
    case Operator::less: {
      if (!value) return false;
      const auto number = parse_integer(*value);
      if (!number) return false;
      return requirement.op == Operator::greater ? *number > requirement.bound : *number < requirement.bound;
    }
  }
  return false;
}

bool NodeSelector::matches(std::string_view node_name, const json::object& labels) const {
  const auto label_holds = [&labels](const Requirement& requirement) {
    const json::value* found = labels.if_contains(requirement.key);
    if (!found || !found->is_string()) return holds(requirement, nullptr);
    const std::string_view value = found->get_string();
    return holds(requirement, &value);
  };
  const auto field_holds = [&node_name](const Requirement& requirement) { return holds(requirement, &node_name); };
  return std::ranges::any_of(terms_, [&](const Term& term) {
    if (term.expressions.empty() && term.fields.empty()) return false;
    return std::ranges::all_of(term.expressions, label_holds) && std::ranges::all_of(term.fields, field_holds);
  });
}

}  // namespace liqo::core
