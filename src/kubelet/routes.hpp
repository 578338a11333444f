// Parses and checks the paths and queries of requests to the kubelet API. Pure.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/k8s/pod_log.hpp"
#include "kube/wire/remote_command.hpp"

namespace liqo::kubelet {

/// An answer other than success: an HTTP status and one sentence for people.
struct Refusal {
  int status = 500;
  std::string sentence;
  bool operator==(const Refusal&) const = default;
};

/// The endpoint that the path of a request names.
enum class Endpoint : std::uint8_t {
  logs,              ///< GET /containerLogs/{namespace}/{pod}/{container}
  exec,              ///< GET or POST /exec/{namespace}/{pod}/{container}
  attach,            ///< GET or POST /attach/{namespace}/{pod}/{container}
  port_forward,      ///< GET or POST /portForward/{namespace}/{pod}
  pods,              ///< GET /pods: those of the node
  running_pods,      ///< GET /runningpods/: the pods and containers that run
  healthz,           ///< GET /healthz
  configz,           ///< GET /configz: the configuration of the node, as of a kubelet
  stats_summary,     ///< GET /stats/summary: what the node and its pods use, as JSON
  metrics,           ///< GET /metrics: the lines of its pods in the metrics of the provider's kubelets
  metrics_cadvisor,  ///< GET /metrics/cadvisor: as for `metrics`
  metrics_probes,    ///< GET /metrics/probes: as for `metrics`
  metrics_resource,  ///< GET /metrics/resource: what the node and its pods use
  metrics_slis,      ///< GET /metrics/slis
  not_served         ///< known to kubelets, and not offered here: see `sentence`
};

/// A parsed path. Names are decoded, and have the form of Kubernetes names.
struct Route {
  Endpoint endpoint = Endpoint::not_served;
  std::string ns, pod, container;  ///< of an endpoint that names a pod; port_forward has no container
  std::string query;               ///< as sent, without '?'
  std::string_view subresource;    ///< of `nodes`, for authorisation, as kubelets name it
  std::string_view narrower;       ///< a sub-resource that is checked first and is enough; "" = none
  std::string_view verb;           ///< for authorisation
  std::string_view sentence;       ///< of not_served
};

/// Whether the path names a pod; otherwise it is about the node whose port is called.
bool names_pod(Endpoint endpoint);

/// Reads method and path. Refusals: 404 for paths that no kubelet has, 405 for methods that a path does not take, 400
/// for invalid names.
std::expected<Route, Refusal> read_route(std::string_view method, std::string_view target);

/// Query parameters in order, decoded ('+' is a space).
using Query = std::vector<std::pair<std::string, std::string>>;
/// Parses a query. Refusals: 400 for broken percent-encoding, 414 for more than 64 KiB.
std::expected<Query, Refusal> read_query(std::string_view query);

/// The options of a log. Unknown parameters are ignored. Refusals: 400.
std::expected<kube::PodLogOptions, Refusal> read_log_options(const Query& query);

/// The options of exec, or, without a command, of attach.
struct CommandOptions {
  std::vector<std::string> command;
  kube::wire::CommandStreams streams;
};
/// Reads the options. stderr is dropped if there is a terminal, as kubelets do, and the command of an attach is
/// ignored. Refusals: 400 if no stream is named, or no command for an exec.
std::expected<CommandOptions, Refusal> read_command_options(const Query& query, Endpoint endpoint);

}  // namespace liqo::kubelet
