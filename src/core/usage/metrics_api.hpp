// The API metrics.liqo.io/v1beta1, by which consumers read the metrics of their pods: its paths and its rules.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "kube/k8s/admission.hpp"

namespace liqo::core {

inline constexpr std::string_view metrics_api_group = "metrics.liqo.io", metrics_api_version = "v1beta1";
/// The APIService by which API servers send requests for metrics.liqo.io to the Service below.
inline constexpr std::string_view metrics_api_service = "v1beta1.metrics.liqo.io";
inline constexpr std::string_view metric_agent_service = "liqo-metric-agent";

/// The discovery and OpenAPI documents, by path, as JSON; nothing for other paths.
std::optional<std::string> metrics_api_document(std::string_view path);

/// What one consumer asks of the kubelets that run its pods.
struct ScrapeRoute {
  std::string consumer;      ///< its cluster ID
  std::string kubelet_path;  ///< "/metrics", "/metrics/resource", "/metrics/cadvisor" or "/metrics/probes"
};

/// A refusal in one sentence.
struct ScrapeRefusal {
  int status = 404;
  std::string sentence;
};

/// Where a consumer reads what the kubelets that run its pods serve at `kubelet_path`: the path that
/// read_scrape_route() parses.
std::string scrape_path(std::string_view consumer, std::string_view kubelet_path);

/// Parses `/apis/metrics.liqo.io/v1beta1/scrape/<consumer>/<path>[/<sub>]`, with any number of slashes between the
/// parts. Refusals: 404 for other paths, 400 if kubelets have no such metrics.
std::expected<ScrapeRoute, ScrapeRefusal> read_scrape_route(std::string_view path);

/// 403 unless the user may see the metrics of that consumer: members of the group named after it, as its virtual nodes
/// are, and administrators. The API server has checked before that the user may send the request at all.
std::optional<ScrapeRefusal> refuse_scrape(const kube::admission::User& user, std::string_view consumer);

}  // namespace liqo::core
