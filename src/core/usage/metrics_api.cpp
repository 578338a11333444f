#include "core/usage/metrics_api.hpp"

#include <algorithm>
#include <vector>

#include "core/common/peer_names.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"

namespace liqo::core {
namespace {

struct Document {
  std::string_view path, text;
};

constexpr Document documents[] = {
    {"/apis",
     R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"metrics.liqo.io","versions":[{"groupVersion":"metrics.liqo.io/v1beta1","version":"v1beta1"}],"preferredVersion":{"groupVersion":"metrics.liqo.io/v1beta1","version":"v1beta1"}}]})"},
    {"/apis/metrics.liqo.io",
     R"({"kind":"APIGroup","apiVersion":"v1","name":"metrics.liqo.io","versions":[{"groupVersion":"metrics.liqo.io/v1beta1","version":"v1beta1"}],"preferredVersion":{"groupVersion":"metrics.liqo.io/v1beta1","version":"v1beta1"}})"},
    {"/apis/metrics.liqo.io/v1beta1",
     R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"metrics.liqo.io/v1beta1","resources":[{"name":"scrape/metrics","singularName":"scrape","namespaced":false,"kind":"Scrape","verbs":["get"]}]})"},
    {"/openapi/v2",
     R"({"swagger":"2.0","info":{"title":"Usage of a consumer's pods","version":"v1beta1"},"paths":{}})"},
    {"/openapi/v3", R"({"paths":{}})"},
};

constexpr std::string_view administrators = "system:masters";
constexpr std::string_view kubelet_paths[] = {"/metrics", "/metrics/resource", "/metrics/cadvisor", "/metrics/probes"};

}  // namespace

std::optional<std::string> metrics_api_document(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  for (const Document& document : documents)
    if (document.path == path) return std::string(document.text);
  return std::nullopt;
}

std::string scrape_path(std::string_view consumer, std::string_view kubelet_path) {
  std::string path = "/apis/";
  path.append(metrics_api_group).append("/").append(metrics_api_version).append("/scrape/").append(consumer);
  return path.append(kubelet_path);
}

std::expected<ScrapeRoute, ScrapeRefusal> read_scrape_route(std::string_view path) {
  constexpr std::string_view before[] = {"apis", metrics_api_group, metrics_api_version, "scrape"};
  const std::vector<std::string_view> segments = kube::split(path, '/');
  constexpr std::size_t known = std::size(before);
  if (segments.size() < known + 2 || !std::equal(std::begin(before), std::end(before), segments.begin()) ||
      !is_cluster_id(segments[known]))
    return std::unexpected(
        ScrapeRefusal{404, "not found; metrics are at " + scrape_path("<cluster ID>", "/metrics[/...]")});
  ScrapeRoute route{.consumer = std::string(segments[known]), .kubelet_path = {}};
  for (std::size_t i = known + 1; i < segments.size(); ++i) route.kubelet_path.append("/").append(segments[i]);
  if (std::ranges::find(kubelet_paths, route.kubelet_path) == std::end(kubelet_paths))
    return std::unexpected(ScrapeRefusal{400, "there are no metrics at " + kube::in_quotes(route.kubelet_path) +
                                                  ": there are /metrics, /metrics/resource, /metrics/cadvisor and "
                                                  "/metrics/probes"});
  return route;
}

std::optional<ScrapeRefusal> refuse_scrape(const kube::admission::User& user, std::string_view consumer) {
  if (user.is_in(consumer) || user.is_in(administrators)) return std::nullopt;
  return ScrapeRefusal{403, "the metrics of cluster " + kube::in_quotes(consumer) + " are not for user " +
                                kube::in_quotes(user.name) + ", who is not of that cluster"};
}

}  // namespace liqo::core
