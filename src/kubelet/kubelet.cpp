#include "kubelet/kubelet.hpp"

#include "core/usage/front_proxy.hpp"
#include "kube/async/task_group.hpp"
#include "telemetry/families.hpp"
#include "telemetry/serving_certificate.hpp"

namespace liqo::kubelet {

Kubelet::Kubelet(KubeletContext context, KubeletSettings settings)
    : context_(std::move(context)),
      settings_(std::move(settings)),
      log_("kubelet"),
      client_ca_file_(context_.clock, settings_.client_ca_file),
      authorizer_(context_.replica_api, context_.metrics.counter(families::kubelet_tokens_refused)),
      certificate_(context_.replica_api, {.node_ip = settings_.node_ip,
                                          .self_signed = settings_.self_signed,
                                          .leadership = &context_.leadership,
                                          .nodes = context_.nodes,
                                          .use = [this](const auto& pair) { use_certificate(pair); }}),
      identity_([this](kube::net::TlsContext tls) { server_->replace_tls(std::move(tls)); }),
      listeners_(context_, context_.home, settings_.ports, context_.metrics.gauge(families::kubelet_ports_missing)) {
  if (!settings_.self_signed) {
    approver_.emplace(
        ApproverContext{context_.environment(), context_.home, context_.leader_api, context_.nodes, settings_.node_ip});
  }
  if (!settings_.client_ca_file.empty()) return;
  client_ca_map_ =
      context_.home.acquire({.resource = kube::resources::config_maps,
                             .ns = core::authentication_map.ns,
                             .selection = {.field_selector = kube::name_is(core::authentication_map.name)}});
  client_ca_map_.subscribe([this](const kube::ObjectKey& key) {
    const auto map = client_ca_map_->find(key);
    // If the ConfigMap is gone, the CA stays in force.
    const std::string_view ca = map ? kube::string_at(map->tree(), {"data", "client-ca-file"}) : std::string_view();
    if (!ca.empty()) use_client_ca(std::string(ca));
  });
}

kube::Result<std::uint16_t> Kubelet::listen() {
  KUBE_TRY(pair, make_temporary_certificate(settings_.node_ip, context_.clock.wall()), "kubelet API");
  if (!settings_.client_ca_file.empty()) {
    KUBE_TRY(ca, client_ca_file_.read(), "kubelet API: client CA");
    use_client_ca(std::move(ca));
  }
  KUBE_TRY(tls, identity_.begin(std::move(pair)), "kubelet API");
  server_ = std::make_unique<KubeletServer>(
      context_, authorizer_, context_.find, std::move(tls), KubeletServerSettings{.port = settings_.ports.first},
      NodeApi([this](std::uint16_t port) { return listeners_.nodes_at(port); }, context_.pods,
              [this](const std::string& node) { return listeners_.find(node); },
              std::make_unique<UsageApi>(context_, context_.usage, context_.pods, context_.nodes)));
  KUBE_TRY(port, server_->listen(), "kubelet API: port " + std::to_string(settings_.ports.first));
  return port;
}

kube::net::HttpServerCounters Kubelet::counters() const {
  return server_ ? server_->counters() : kube::net::HttpServerCounters{};
}

asio::awaitable<void> Kubelet::run() {
  kube::async::TaskGroup group(context_.executor);
  group.spawn(server_->run());
  group.spawn(listeners_.run(*server_));
  group.spawn(certificate_.run());
  if (approver_) group.spawn(kube::run_while_leading(context_.leadership, [this] { return approver_->run(); }));
  if (!settings_.client_ca_file.empty())
    group.spawn(client_ca_file_.watch([this](std::string pem) { use_client_ca(std::move(pem)); }));
  co_await group.join();
}

void Kubelet::use_certificate(const kube::net::KeyAndCertificate& pair) {
  if (const auto used = identity_.use_certificate(pair); !used)
    log_.error("a new serving certificate cannot be used", {{"error", used.error()}});
  else if (const auto info = kube::net::read_certificate(pair.certificate_pem))
    show_serving_certificate(context_.metrics, "kubelet", info->not_before, info->not_after);
}

void Kubelet::use_client_ca(std::string pem) {
  const auto used = identity_.use_client_ca(std::move(pem));
  if (!used) {
    log_.error("a new client CA cannot be used", {{"error", used.error()}});
  } else if (*used) {
    server_->forget_clients();
    log_.info("callers of the kubelet API are known by a new client CA");
  }
}

}  // namespace liqo::kubelet
