#include "crowd.hpp"

#include <algorithm>

#include "kube/base/json.hpp"
#include "kube/base/url.hpp"
#include "query.hpp"

namespace liqo::bench {

namespace {

namespace json = kube::json;

constexpr std::size_t crowd = 100'000, max_name = 253;

json::object one_of_crowd(const std::string& ns, std::size_t number) {
  std::string name = "crowd-" + std::to_string(number) + "-";
  name.resize(max_name, 'x');
  const std::string uid = "crowd-" + std::to_string(number);
  return {{"metadata",
           {{"name", std::move(name)},
            {"namespace", ns},
            {"uid", uid},
            {"resourceVersion", "1"},
            {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
          {"spec", {{"containers", {{{"name", "main"}, {"image", "busybox"}}}}}},
          {"status", {{"phase", "Running"}}}};
}

}  // namespace

std::string namespace_of_pods(std::string_view target) {
  constexpr std::string_view before = "/api/v1/namespaces/", behind = "/pods";
  target = kube::path_of(target);
  if (!target.starts_with(before) || !target.ends_with(behind)) return "";
  target.remove_prefix(before.size());
  return std::string(target.substr(0, target.size() - behind.size()));
}

std::optional<std::string> page_of_crowd(const kube::HttpRequest& request) {
  const std::string ns = namespace_of_pods(request.target);
  if (ns.empty() || request.method != "GET" || request.target.contains("watch=")) return std::nullopt;
  const std::size_t begin = number_in(request.target, "continue").value_or(0);
  const std::size_t end = std::min(crowd, begin + number_in(request.target, "limit").value_or(crowd));
  json::array items;
  for (std::size_t number = begin; number < end; ++number) items.push_back(one_of_crowd(ns, number));
  json::object metadata{{"resourceVersion", "1"}};
  if (end < crowd) metadata["continue"] = std::to_string(end);
  return json::serialize(json::object{
      {"kind", "PodList"}, {"apiVersion", "v1"}, {"metadata", std::move(metadata)}, {"items", std::move(items)}});
}

}  // namespace liqo::bench
