#include "model/install/daemon_arguments.hpp"

#include <algorithm>
#include <array>

#include "kube/base/text.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;

/// The arguments that decide which offloaded pods get tokens. The chart reads them in the value extraArgs, too.
json::array arguments_of_tokens(const kube::Object* deployment) {
  constexpr std::array<std::string_view, 3> flags{"--apiserver-support", "--enable-apiserver-support",
                                                  "--home-api-server-host"};
  json::array out;
  bool is_value = false;
  for (const std::string_view word : arguments_of(deployment)) {
    const std::string_view flag = word.substr(0, word.find('='));
    const bool is_flag = std::ranges::find(flags, flag) != flags.end();
    if (is_flag || is_value) out.emplace_back(word);
    is_value = is_flag && flag == word;
  }
  return out;
}

/// The value of --reflect-custom, "widgets.shop.example,status,workers=2", as far as rights depend on it.
json::array custom_resources(const kube::Object* deployment) {
  constexpr std::string_view name = "--reflect-custom=";
  json::array out;
  for (const std::string_view word : arguments_of(deployment)) {
    if (!word.starts_with(name)) continue;
    const std::vector<std::string_view> parts = kube::split(word.substr(name.size()), ',');
    const std::string_view given = parts.empty() ? std::string_view() : parts.front();
    const std::size_t dot = given.find('.');
    out.push_back(json::object{{"resource", given.substr(0, dot)},
                               {"group", dot == std::string_view::npos ? "" : given.substr(dot + 1)},
                               {"status", std::ranges::find(parts, "status") != parts.end()}});
  }
  return out;
}

}  // namespace

std::vector<std::string_view> arguments_of(const kube::Object* deployment) {
  std::vector<std::string_view> arguments;
  if (!deployment) return arguments;
  for (const json::value& container : kube::array_at(deployment->spec(), {"template", "spec", "containers"}))
    for (const json::value& word : kube::array_at(container, {"args"}))
      if (const auto* text = word.if_string()) arguments.push_back(*text);
  return arguments;
}

std::string_view argument(const kube::Object* deployment, std::string_view name) {
  for (const std::string_view word : arguments_of(deployment))
    if (word.starts_with(name)) return word.substr(name.size());
  return {};
}

bool has_argument(const kube::Object* deployment, std::string_view word) {
  return std::ranges::count(arguments_of(deployment), word) > 0;
}

bool has_metric_agent(const kube::Object* deployment) {
  const std::string_view port = argument(deployment, "--metric-agent-port=");
  return !port.empty() && port != "0";
}

json::object values_of_rights(const kube::Object* deployment) {
  if (!deployment) return {{"deployment", false}};
  // No role depends on the ID or the image, which the chart requires.
  return {{"clusterID", "liqod"},
          {"image", json::object{{"repository", "liqod"}}},
          {"metricAgent", json::object{{"enabled", has_metric_agent(deployment)}}},
          {"storage", json::object{{"enabled", !argument(deployment, "--virtual-storage-class-name=").empty()}}},
          {"offloading",
           json::object{{"namespaces", json::object{{"selector", argument(deployment, "--offload-namespaces=")}}},
                        {"reflection", json::object{{"custom", custom_resources(deployment)}}}}},
          {"extraArgs", arguments_of_tokens(deployment)}};
}

}  // namespace liqoctl::model
