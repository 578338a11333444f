#include <chrono>

#include "core/common/names.hpp"
#include "core/peering/api_server_address.hpp"
#include "kube/base/base64.hpp"
#include "kube/base/duration.hpp"
#include "options/groups.hpp"

namespace liqod {
namespace {

auto wrong(std::string text) { return kube::fail(kube::Errc::invalid_input, std::move(text)); }

/// Entries "key=value"; the first '=' ends the key. Values of labels must be well-formed, those of annotations are
/// free.
kube::Result<void> read_entries(const std::vector<std::string>& texts, bool are_labels,
                                std::map<std::string, std::string>& out) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return wrong("is not key=value,...: " + text);
    std::string key = text.substr(0, equals), value = text.substr(equals + 1);
    if (!liqo::core::is_label_key(key)) return wrong("has a key that no label or annotation can have: " + text);
    if (are_labels && !liqo::core::is_label_value(value)) return wrong("has a value that no label can have: " + text);
    out.insert_or_assign(std::move(key), std::move(value));
  }
  return {};
}

kube::Result<void> read_durations(const Texts& texts, Options& options) {
  auto& settings = options.settings;
  kube::Duration lease{};
  struct Time {
    const char* name;
    const std::string& text;
    kube::Duration* out;
    bool may_be_zero = false;
  };
  for (const Time& time :
       {Time{"--node-ping-interval", texts.ping_interval, &settings.nodes.probe_interval},
        Time{"--node-ping-timeout", texts.ping_timeout, &settings.nodes.probe_timeout},
        Time{"--node-lease-duration", texts.lease_duration, &lease},
        Time{"--webhook-certificate-lifetime", texts.webhook_lifetime, &options.webhook_certificate_lifetime},
        Time{"--identity-certificate-duration", texts.certificate_validity, &settings.peering.certificate_validity},
        Time{"--namespace-withdrawal-grace", texts.withdrawal_grace, &settings.namespaces.withdrawal_grace},
        Time{"--foreign-cluster-ping-timeout", texts.peer_timeout, &settings.peering.foreign_cluster_ping_timeout},
        Time{"--stop-delay", texts.stop_delay, &options.stop_delay, true},
        Time{"--metric-agent-timeout", texts.metric_agent_timeout, &options.metric_agent_timeout},
        Time{"--cordon-silent-tenants-after", texts.silence, &settings.peering.max_tenant_silence, true},
        Time{"--foreign-cluster-ping-interval", texts.peer_interval, &settings.peering.foreign_cluster_ping_interval,
             true}}) {
    const auto read = kube::parse_duration(time.text);
    if (!read) return wrong(std::string(time.name) + ": " + read.error().text());
    if (!time.may_be_zero && *read == kube::Duration::zero())
      return wrong(std::string(time.name) + " must be more than nothing");
    *time.out = *read;
  }
  settings.nodes.lease_seconds = std::chrono::ceil<std::chrono::seconds>(lease).count();
  settings.nodes.lease_interval = lease / 4;
  // Kubernetes refuses to sign for less than ten minutes.
  if (settings.peering.certificate_validity < std::chrono::minutes(10))
    return wrong("--identity-certificate-duration must be 10m or more");
  return {};
}

/// The labels and annotations of virtual nodes, and which namespaces are offloaded.
kube::Result<void> read_lists(Texts& texts, liqo::controllers::Settings& settings) {
  struct Entries {
    const char* name;
    const std::vector<std::string>& texts;
    bool are_labels;
    std::map<std::string, std::string>* out;
  };
  for (const Entries& entries :
       {Entries{"--node-extra-labels", texts.extra_labels, true, &settings.nodes.node_extra_labels},
        Entries{"--node-extra-annotations", texts.extra_annotations, false, &settings.nodes.node_extra_annotations}}) {
    if (auto read = read_entries(entries.texts, entries.are_labels, *entries.out); !read)
      return wrong(std::string(entries.name) + " " + read.error().text());
  }
  auto selected = liqo::core::NamespaceSelection::read(std::move(texts.selection), settings.liqo_namespace);
  if (!selected) return wrong("--offload-namespaces: " + selected.error().text());
  settings.namespaces.selected_namespaces = std::move(*selected);
  if (!texts.twin_names.empty()) settings.namespaces.twin_names = std::move(texts.twin_names);
  return {};
}

/// The address and CA of this cluster's API server, and which offloaded pods get tokens for it.
kube::Result<void> read_server(const Texts& texts, Options& options) {
  auto& settings = options.settings;
  if (!options.ca_override.empty()) {
    auto pem = kube::decode_base64(options.ca_override);
    if (!pem) return wrong("--ca-override is not base64: " + pem.error().text());
    if (options.trusted_ca) return wrong("--ca-override and --trusted-ca exclude each other");
    settings.peering.ca_pem = std::move(*pem);
  }
  if (!settings.peering.api_server_override.empty())
    if (auto url = liqo::core::api_server_url(settings.peering.api_server_override); !url)
      return wrong("--api-server-address-override: " + url.error().text());
  using liqo::core::ApiServerMode;
  std::optional<ApiServerMode> all_or_none;
  if (texts.all_tokens) all_or_none = *texts.all_tokens ? ApiServerMode::always : ApiServerMode::never;
  if (texts.tokens && all_or_none && *texts.tokens != *all_or_none)
    return wrong("--apiserver-support and --enable-apiserver-support say different things: give one of them");
  settings.offloading.api_server_mode =
      texts.tokens.value_or(all_or_none.value_or(settings.offloading.api_server_mode));
  return {};
}

}  // namespace

kube::Result<void> read_texts(Texts texts, Options& options) {
  const auto& ports = options.settings.nodes.kubelet_ports;
  if (ports.first + ports.count - 1 > 65535) return wrong("--listen-port-count reaches beyond port 65535");
  KUBE_TRYV(read_lists(texts, options.settings));
  KUBE_TRYV(read_durations(texts, options));
  options.settings.namespaces.checks_owners = options.webhook_port != 0 && options.webhook_failure_policy == "Fail";
  if (texts.hides_peers) options.peer_names = PeerNames::numbered;
  return read_server(texts, options);
}

}  // namespace liqod
