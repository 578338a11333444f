#include "kube/wire/yaml.hpp"

#include <algorithm>
#include <charconv>

#include "kube/base/scalar.hpp"
#include "yaml_tree.hpp"

namespace kube::wire {
namespace {

constexpr std::size_t max_size = std::size_t{8} << 20;
constexpr std::size_t max_nodes = 1'000'000;  // aliases can make a small text a huge tree
constexpr int max_depth = 64;

json::value scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return json::value(text);  // it was quoted
  if (text.empty() || text == "null" || text == "~") return nullptr;
  if (text == "true") return true;
  if (text == "false") return false;
  if (const auto whole = read_number<std::int64_t>(text)) return *whole;
  const char* const end = text.data() + text.size();
  double number = 0;
  if (text.find_first_not_of("0123456789.eE+-") == std::string::npos)
    if (const auto [at, failure] = std::from_chars(text.data(), end, number); failure == std::errc() && at == end)
      return number;
  return json::value(text);
}

bool convert(const YAML::Node& node, json::value& out, int depth, std::size_t& left) {
  if (depth > max_depth || left-- == 0) return false;
  if (node.IsMap()) {
    auto& object = out.emplace_object();
    for (const auto& entry : node)
      if (!entry.first.IsScalar() || !convert(entry.second, object[entry.first.Scalar()], depth + 1, left))
        return false;
  } else if (node.IsSequence()) {
    auto& list = out.emplace_array();
    for (const auto& item : node)
      if (!convert(item, list.emplace_back(nullptr), depth + 1, left)) return false;
  } else if (node.IsScalar()) {
    out = scalar(node);
  } else {
    out = nullptr;
  }
  return true;
}

}  // namespace

Failure yaml_failure(const YAML::Exception& error, std::string_view text) {
  std::string why = error.msg.substr(0, 256);
  if (why == YAML::ErrorMsg::END_OF_SEQ_FLOW) why = "a list that begins with [ is not closed";
  if (why == YAML::ErrorMsg::END_OF_MAP_FLOW) why = "a map that begins with { is not closed";
  if (error.mark.is_null()) return {Errc::parse, "is not valid YAML: " + why};
  // The end of a text is in its last line, and not in one after it.
  const auto breaks = std::ranges::count(text.substr(0, text.find_last_not_of('\n') + 1), '\n');
  const auto line = std::min<std::int64_t>(error.mark.line, breaks) + 1;
  return {Errc::parse, "is not valid YAML (line " + std::to_string(line) + ": " + why + ")"};
}

Result<json::value> yaml_tree(const YAML::Node& node, std::size_t& nodes_left) {
  json::value value;
  if (!convert(node, value, 0, nodes_left)) return fail(Errc::too_large, "the YAML is too deep or too large");
  return value;
}

Result<std::vector<json::value>> read_yaml(std::string_view text) {
  if (text.size() > max_size) return fail(Errc::too_large, "more than 8 MiB of YAML");
  try {
    std::vector<json::value> out;
    std::size_t left = max_nodes;
    for (const YAML::Node& document : YAML::LoadAll(std::string(text))) {
      KUBE_TRY(value, yaml_tree(document, left));
      if (!value.is_null()) out.push_back(std::move(value));
    }
    return out;
  } catch (const YAML::Exception& error) {
    return std::unexpected(yaml_failure(error, text));
  }
}

}  // namespace kube::wire
