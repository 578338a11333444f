// Judges whether the parts of an installation reach each other: webhooks, API servers, kubelet APIs, metrics and usage.
#include <algorithm>

#include "core/common/control_plane.hpp"
#include "core/nodes/namesakes.hpp"
#include "core/peering/api_server_address.hpp"
#include "core/usage/metrics_api.hpp"
#include "kube/base/base64.hpp"
#include "kube/k8s/condition.hpp"
#include "kube/wire/server_url.hpp"
#include "liqo/api/auth_params.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/tenant.hpp"
#include "model/check/check.hpp"
#include "model/findings.hpp"
#include "model/install/daemon_arguments.hpp"
#include "model/install/platform.hpp"
#include "text/shown.hpp"

namespace liqoctl::model {
namespace {

namespace core = liqo::core;
namespace json = kube::json;
using kube::array_at;
using kube::string_at;
using text::shown;

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host == "0.0.0.0" || host.starts_with("127.");
}

}  // namespace

Finding judge_webhooks(const kube::Object* deployment, std::size_t configurations,
                       const std::optional<std::string>& refusal) {
  const std::string_view port = argument(deployment, "--webhook-port=");
  if (port == "0")
    return open("webhooks", "are switched off (value webhook.port), and with them what keeps tenants in bounds");
  if (configurations < 2)
    return bad("webhooks", "their configurations are not there: liqod writes them when it leads; look at its log");
  if (!refusal)
    return bad("webhooks", "the API server took what they refuse: it does not reach them, or is not told to");
  if (refusal->contains("must be called")) return good("webhooks", "the API server reaches them, and they answer");
  if (!refusal->contains("failed calling webhook")) return bad("webhooks", "cannot be tried out: " + shown(*refusal));
  return bad("webhooks", "the API server does not reach them (" + shown(*refusal) +
                             "): liqod has to run, and its port " + shown(port.empty() ? "9443" : port) +
                             " to be open for the API server");
}

ApiServerAddress told_address(const kube::Object* deployment, const std::vector<kube::Object>& tenants,
                              const std::vector<kube::Object>& nodes, std::string_view own_server) {
  for (const kube::Object& tenant : tenants) {
    auto params = liqo::api::read_auth_params(liqo::api::Tenant(tenant).auth_params());
    if (!params || params->api_server.empty()) continue;
    return {.url = std::move(params->api_server),
            .ca_pem = std::move(params->ca_pem),
            .public_ca = string_at(tenant.status(), {"authParams", "ca"}).empty(),
            .through_proxy = !params->proxy_url.empty()};
  }
  ApiServerAddress address{.public_ca = has_argument(deployment, "--trusted-ca")};
  if (auto ca = kube::decode_base64(argument(deployment, "--ca-override="))) address.ca_pem = std::move(*ca);
  const auto as_url = [](std::string_view told) { return core::api_server_url(told).value_or(""); };
  if (const auto given = argument(deployment, "--api-server-address-override="); !given.empty()) {
    address.url = as_url(given);
    return address;
  }
  for (const std::string_view label : core::control_plane_labels) {
    std::vector<kube::Object> labelled;
    for (const kube::Object& node : nodes)
      if (node.has_label(label)) labelled.push_back(node);
    if (const auto found = core::control_plane_address(labelled)) {
      address.url = as_url(*found + ":6443");
      return address;
    }
  }
  // A liqod in a pod has no other address.
  if (!deployment) address.url = own_server;
  return address;
}

Finding judge_address(const ApiServerAddress& address, std::string_view trouble) {
  constexpr std::string_view about = "API server";
  const std::string mend = "; give the one that consumers reach with --api-server-url (value apiServer.address)";
  if (address.url.empty()) return bad(about, "no control-plane node reports its address" + mend);
  const std::string url = shown(address.url);
  const auto read = kube::wire::parse_server_url(address.url);
  if (!read) return bad(about, url + " is no address" + mend);
  if (is_loopback(read->host)) return bad(about, url + " leads every consumer to itself" + mend);
  if (address.through_proxy) return open(about, "consumers reach " + url + " through the proxy that they were given");
  if (!trouble.empty())
    return bad(about,
               url + " is the address that consumers are given, and does not answer here: " + shown(trouble) + mend);
  return good(about, "answers at " + url + ", the address that consumers are given");
}

std::optional<Finding> judge_node_names(const std::vector<kube::Object>& virtual_nodes) {
  for (const kube::Object& one : virtual_nodes) {
    const json::object* node = kube::find_condition(one.status(), "Node");
    if (node && string_at(*node, {"reason"}) == core::name_taken)
      return bad("virtual nodes", shown(one.key().text()) + " has no Node: " + shown(string_at(*node, {"message"})));
  }
  return std::nullopt;
}

Finding judge_kubelet_api(const std::vector<std::pair<std::string, std::string>>& answers) {
  if (answers.empty()) return open("kubelet API", "there is no virtual node yet");
  for (const auto& [node, failure] : answers)
    if (!failure.empty())
      return bad("kubelet API",
                 "the API server does not reach that of node " + node + " (" + shown(failure) +
                     "), so kubectl logs and exec fail there: its port, which the Node shows (values listenPort and "
                     "listenPortCount), has to be open for the API server");
  return good("kubelet API",
              "the API server reaches that of " + counted(answers.size(), "virtual node", "virtual nodes"));
}

std::string_view metrics_port(const kube::Object* deployment) {
  const std::string_view address = argument(deployment, "--metrics-address=");
  return address.substr(address.rfind(':') + 1);
}

bool has_secure_metrics(const kube::Object* deployment) { return argument(deployment, "--metrics-secure=") != "false"; }

bool is_confined(const kube::Object& network_policy, std::string_view port) {
  return std::ranges::any_of(array_at(network_policy.spec(), {"ingress"}), [port](const json::value& rule) {
    return !array_at(rule, {"from"}).empty() &&
           std::ranges::any_of(array_at(rule, {"ports"}), [port](const json::value& open) {
             return std::to_string(kube::int_at(open, {"port"})) == port;
           });
  });
}

Finding judge_metrics(const kube::Object* deployment, const MetricsSnapshot& snapshot) {
  constexpr std::string_view about = "metrics";
  if (!deployment) return open(about, "there is no Deployment liqod whose metrics could be asked for");
  if (!snapshot.has_service)
    return open(about, "there is no Service " + std::string(liqo::api::metrics_service) +
                           " through which they could be asked for (value metrics.enabled)");
  if (snapshot.trouble.empty()) return good(about, "the API server reaches port " + shown(metrics_port(deployment)));
  if (snapshot.confined)
    return open(about,
                "the NetworkPolicy liqod names who reaches port " + shown(metrics_port(deployment)) +
                    ", and the API server is not among them: the scrapers themselves show whether they reach it");
  return bad(about,
             "the API server does not reach port " + shown(metrics_port(deployment)) + " (" + shown(snapshot.trouble) +
                 "), and neither may scrapers: a pod of liqod has to be ready, and the port (value metrics.port) open");
}

Finding judge_usage(const kube::Object* deployment, const UsageSnapshot& snapshot) {
  constexpr std::string_view about = "pod metrics";
  const kube::Object* api_service = snapshot.api_service;
  const std::string_view ns = snapshot.ns;
  const std::string name(core::metrics_api_service);
  const std::string_view port = argument(deployment, "--metric-agent-port=");
  const bool is_on = has_metric_agent(deployment);
  if (!api_service && !is_on) return open(about, "consumers see no metrics of their pods (value metricAgent.enabled)");
  if (!api_service && !snapshot.has_front_proxy)
    return open(about,
                "consumers see no metrics of their pods, because this API server has no front-proxy CA: start it with "
                "--requestheader-client-ca-file and --proxy-client-cert-file, or set metricAgent.enabled=false");
  if (!api_service)
    return bad(about, "there is no APIService " + name +
                          ": liqod writes it when it leads, and takes it away for an hour if the API server does not "
                          "reach its port " +
                          shown(port) + ": kubectl describe service -n " + std::string(ns) + " " +
                          std::string(core::metric_agent_service) + " or the log of liqod says why");
  const json::object& spec = api_service->spec();
  const std::string_view service_ns = string_at(spec, {"service", "namespace"}),
                         service = string_at(spec, {"service", "name"});
  if (is_on && (service_ns != ns || service != core::metric_agent_service))
    return bad(about, "APIService " + name + " leads to Service " + shown(service_ns) + "/" + shown(service) +
                          ", and liqod leaves it alone: kubectl delete apiservice " + name +
                          " has it make its own, or set metricAgent.enabled=false here");
  const json::object* available = kube::find_condition(api_service->status(), "Available");
  if (!available)
    return bad(about, "the API server has not looked at APIService " + name + " yet: liqoctl check again");
  if (string_at(*available, {"status"}) == "True") return good(about, "consumers can read the metrics of their pods");
  return bad(about, "APIService " + name + " is not available (" + shown(string_at(*available, {"message"})) +
                        "), and until it is, Kubernetes removes no namespace: liqod has to run, and its port " +
                        std::string(is_on ? port : "8443") + " to be open for the API server, or the APIService to go");
}

std::optional<Finding> judge_usage_account(const kube::Object* deployment, const UsageAccount& account,
                                           std::string_view ns) {
  if (!has_metric_agent(deployment)) return std::nullopt;
  constexpr std::string_view about = "kubelet metrics";
  const std::string name = "ServiceAccount " + std::string(ns) + "/" + std::string(liqo::api::metric_agent_account);
  const std::string mend =
      ", so consumers see no metrics of their pods: install the chart of this version (liqoctl upgrade, or helm)";
  if (!account.exists) return bad(about, name + " is not there, as which liqod asks kubelets" + mend);
  if (account.may_liqod_have_token == false) return bad(about, "liqod may not have a token of " + name + mend);
  if (account.may_read_usage == false) return bad(about, name + " may not get nodes/metrics" + mend);
  return good(about, "liqod asks kubelets as " + name);
}

std::optional<Finding> judge_egress_selector(const std::vector<kube::Object>& nodes) {
  constexpr std::string_view flag = "--egress-selector-mode";
  bool seen = false;
  for (const kube::Object& node : nodes) {
    const std::string_view version = string_at(node.status(), {"nodeInfo", "kubeletVersion"});
    if (!version.contains("+k3s") && !version.contains("+rke2")) continue;
    const std::vector<std::string> arguments = arguments_of_k3s(node);
    if (arguments.empty() || arguments.front() != "server") continue;
    seen = true;
    bool disabled = std::ranges::find(arguments, std::string(flag) + "=disabled") != arguments.end();
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i)
      disabled = disabled || (arguments[i] == flag && arguments[i + 1] == "disabled");
    if (!disabled)
      return bad("egress selector",
                 "node " + std::string(node.name()) +
                     " asks kubelets through tunnels, which virtual nodes do not have, so kubectl logs "
                     "and exec fail there: start the server with --egress-selector-mode=disabled");
  }
  if (!seen) return std::nullopt;
  return good("egress selector", "kubelets are asked without tunnels");
}

}  // namespace liqoctl::model
