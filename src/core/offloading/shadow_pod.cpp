#include "core/offloading/shadow_pod.hpp"

#include <algorithm>
#include <iterator>

#include "core/common/json_values.hpp"
#include "core/common/meta.hpp"
#include "core/common/names.hpp"
#include "core/offloading/affinity.hpp"
#include "core/offloading/api_server.hpp"
#include "core/offloading/dropped_fields.hpp"
#include "core/offloading/home_root_ca.hpp"
#include "core/offloading/label_keys.hpp"
#include "core/offloading/placement_wishes.hpp"
#include "core/offloading/pod_certificates.hpp"
#include "core/offloading/pod_reads.hpp"
#include "core/offloading/service_account_token.hpp"
#include "core/offloading/shadow_metadata.hpp"
#include "core/offloading/token_audiences.hpp"
#include "core/offloading/trust_bundles.hpp"
#include "core/policy/key_table.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// Fields with the same meaning on both sides. Devices (resourceClaims) are sent, and the provider refuses them by
/// name. Readiness gates are not sent: controllers at home set their conditions, so they are evaluated there.
constexpr std::string_view verbatim_fields[] = {"containers",
                                                "initContainers",
                                                "volumes",
                                                "activeDeadlineSeconds",
                                                "dnsConfig",
                                                "dnsPolicy",
                                                "enableServiceLinks",
                                                "hostAliases",
                                                "hostUsers",
                                                "hostname",
                                                "imagePullSecrets",
                                                "resourceClaims",
                                                "resources",
                                                "restartPolicy",
                                                "securityContext",
                                                "setHostnameAsFQDN",
                                                "shareProcessNamespace",
                                                "subdomain",
                                                "terminationGracePeriodSeconds",
                                                "topologySpreadConstraints"};

/// With hostNetwork the API server gives every container port a host port, and without it these would collide at the
/// provider.
bool clear_host_ports(json::object& spec) {
  bool cleared = false;
  for (std::string_view list : {"containers", "initContainers"})
    for_each_object(spec, list, [&cleared](json::object& container) {
      for_each_object(container, "ports", [&cleared](json::object& port) {
        if (port.erase("hostPort") > 0) cleared = true;
      });
    });
  return cleared;
}

bool wants_home_api_server(const kube::Object& local_pod, const ForgingContext& ctx) {
  if (ctx.api_server_mode != ApiServerMode::needed) return ctx.api_server_mode == ApiServerMode::always;
  // Every pod has the service account `default`, and few of those use the API server.
  return service_account_of(local_pod) != "default" ||
         local_pod.annotation(api::annotations::api_server_support) == "home";
}

bool knows_home_api_server(const ForgingContext& ctx) {
  return !ctx.api_server_host.empty() || !ctx.api_server_ips.empty();
}

bool tolerates_every_taint(const json::array& tolerations) {
  for (const json::value& entry : tolerations) {
    const std::string_view effect = kube::string_at(entry, {"effect"});
    if (kube::string_at(entry, {"operator"}) == "Exists" && kube::string_at(entry, {"key"}).empty() &&
        (effect.empty() || effect == "NoExecute"))
      return true;
  }
  return false;
}

std::string runtime_class(const kube::Object& local_pod, const ForgingContext& ctx) {
  const std::string_view wanted = local_pod.annotation(api::annotations::remote_runtime_class);
  if (!wanted.empty()) return std::string(wanted);
  const std::string_view local = kube::string_at(local_pod.spec(), {"runtimeClassName"});
  if (!local.empty() && local != api::liqo_runtime_class) return std::string(local);
  return ctx.patch.runtime_class == api::liqo_runtime_class ? std::string() : ctx.patch.runtime_class;
}

void adapt_service_account(json::object& spec, const kube::Object& local_pod, ApiServerSupport support) {
  spec["automountServiceAccountToken"] = support == ApiServerSupport::remote;
  if (support != ApiServerSupport::remote) return;
  const std::string_view wanted = local_pod.annotation(api::annotations::remote_service_account);
  const std::string_view name = wanted.empty() ? kube::string_at(local_pod.spec(), {"serviceAccountName"}) : wanted;
  if (!name.empty()) spec["serviceAccountName"] = name;
}

/// An API server takes 256 KiB of annotations, and the provider adds some to its Pod.
constexpr std::size_t max_annotation_bytes = 232 * 1024;

/// What travels as one of `reads` travels under its own name as well, because the provider's policy may let that pass,
/// but not if both have no room.
void drop_doubles(json::object& annotations, const json::object& reads) {
  if (reads.empty() || annotation_bytes(annotations) + annotation_bytes(reads) <= max_annotation_bytes) return;
  json::object kept;
  for (const auto& [key, value] : annotations)
    if (is_common_annotation(key) || !has_read(reads, key)) kept[key] = value;
  annotations = std::move(kept);
}

std::string describe_wrong_name(const ForgingContext& ctx) {
  return "kubernetes.default leads this pod to the API server of cluster " + ctx.clusters.remote +
         ", which refuses its token of cluster " + ctx.clusters.local +
         ": have it use KUBERNETES_SERVICE_HOST, or give liqod an IP address as --home-api-server-host and 443 as "
         "--home-api-server-port, for kubernetes.default.svc";
}

/// An address of a port on a node of home. Every node has the loopback addresses, and those that mean all.
bool is_of_node(std::string_view host_ip) {
  return !host_ip.empty() && !host_ip.starts_with("127.") && host_ip != "0.0.0.0" && host_ip != "::" &&
         host_ip != "::1";
}

/// Ports of the node that are bound to an address which the provider's nodes do not have.
bool binds_to_home(const json::object& spec) {
  for (std::string_view list : {"containers", "initContainers"})
    for (const json::value& container : kube::array_at(spec, {list}))
      for (const json::value& port : kube::array_at(container, {"ports"}))
        if (kube::int_at(port, {"hostPort"}) > 0 && is_of_node(kube::string_at(port, {"hostIP"}))) return true;
  return false;
}

std::vector<std::string> dropped_fields(const json::object& local_spec, const json::object& sent_spec,
                                        bool host_ports_cleared) {
  std::vector<std::string> dropped;
  for (std::string_view field : {"hostNetwork", "hostPID", "hostIPC"})
    if (kube::bool_at(local_spec, {field})) dropped.emplace_back(field);
  if (host_ports_cleared) dropped.emplace_back("hostPort");
  if (binds_to_home(sent_spec)) dropped.emplace_back("hostPort with a hostIP of home");
  std::ranges::move(unsent_fields(local_spec, sent_spec), std::back_inserter(dropped));
  return dropped;
}

}  // namespace

json::array forge_tolerations(const kube::Object& local_pod, const ForgingContext& ctx) {
  json::array tolerations;
  for (const json::value& entry : kube::array_at(local_pod.spec(), {"tolerations"}))
    if (kube::string_at(entry, {"key"}) != api::virtual_node_taint) tolerations.push_back(entry);
  for (const json::value& entry : ctx.patch.tolerations) tolerations.push_back(entry);
  return tolerations;
}

json::object shadow_labels(const kube::Object& local_pod, const ForgingContext& ctx) {
  json::object labels = reflected_labels(local_pod, ctx);
  labels[api::labels::node_name] = ctx.node_name;
  return labels;
}

json::object shadow_annotations(const kube::Object& local_pod, const json::object& labels, const json::object& reads,
                                const ForgingContext& ctx) {
  json::object annotations = reflected_annotations(local_pod, ctx);
  drop_doubles(annotations, reads);
  const std::string keys = reflected_keys(labels, annotations);
  annotations[api::annotations::local_pod_uid] = local_pod.uid();
  annotations[api::annotations::reflected_keys] = keys;
  if (const auto name = kube::string_at(local_pod.spec(), {"priorityClassName"}); !name.empty())
    annotations[api::annotations::priority_class] = name;
  for (const auto& [key, value] : reads) annotations[key] = value;
  return annotations;
}

ApiServerSupport api_server_support_of(const kube::Object& local_pod, const ForgingContext& ctx) {
  const std::string_view asked = local_pod.annotation(api::annotations::api_server_support);
  if (asked == "disabled") return ApiServerSupport::disabled;
  if (asked == "remote") return ApiServerSupport::remote;
  if (!wants_home_api_server(local_pod, ctx)) return ApiServerSupport::disabled;
  // A pod that does not know the API server gets no token for it.
  if (ctx.api_server_mode == ApiServerMode::needed && !knows_home_api_server(ctx)) return ApiServerSupport::disabled;
  return ApiServerSupport::token_api;
}

std::string api_server_trouble(const kube::Object& local_pod, const ForgingContext& ctx, bool has_tokens) {
  const std::string_view asked = local_pod.annotation(api::annotations::api_server_support);
  if (asked == "disabled" || asked == "remote" || !wants_home_api_server(local_pod, ctx)) return {};
  if (knows_home_api_server(ctx))
    return has_tokens && asks_provider_by_name(local_pod, ctx) ? describe_wrong_name(ctx) : std::string();
  if (std::ranges::all_of(collect_token_requests(local_pod),
                          [&](const TokenRequest& request) { return is_other_audience(request.audience, ctx); }))
    return {};
  // The ShadowPod was made while the address was known, or while all pods got tokens.
  if (ctx.api_server_mode == ApiServerMode::needed && has_tokens) return {};
  return "pods in cluster " + ctx.clusters.remote + " do not know the address of the API server of cluster " +
         ctx.clusters.local + " (--home-api-server-host of liqod): " +
         (ctx.api_server_mode == ApiServerMode::needed ? "this one has no token for it"
                                                       : "this one has a token for it, and asks kubernetes.default");
}

kube::Result<ForgedShadowPod> forge_shadow_pod(const kube::Object& local_pod, std::string_view remote_namespace,
                                               const ForgingContext& ctx) {
  KUBE_TRYV(check_node_name(ctx.node_name));
  if (local_pod.uid().empty() || kube::array_at(local_pod.spec(), {"containers"}).empty())
    return kube::fail(kube::Errc::invalid_input, "a pod without UID or containers cannot be offloaded");

  const json::object& local_spec = local_pod.spec();
  json::object spec;
  for (std::string_view field : verbatim_fields)
    if (const json::value* value = local_spec.if_contains(field); value && !value->is_null()) spec[field] = *value;

  if (local_pod.annotation(api::annotations::topology_spread) != api::as_it_is) soften_topology_spread(spec);

  const bool host_ports_cleared = kube::bool_at(local_spec, {"hostNetwork"}) && clear_host_ports(spec);
  const ApiServerSupport support = api_server_support_of(local_pod, ctx);
  if (std::string why = excess_of_tokens(local_pod, ctx); !why.empty())
    return kube::fail(kube::Errc::invalid_input, std::move(why));
  if (std::string why = excess_of_certificates(local_pod, ctx); !why.empty())
    return kube::fail(kube::Errc::invalid_input, std::move(why));
  if (support != ApiServerSupport::remote) adapt_volumes(spec, local_pod, ctx);
  if (support == ApiServerSupport::token_api) {
    name_home_root_ca(spec, ctx);
    adapt_environment(spec, ctx);
    adapt_host_aliases(spec, local_pod, ctx);
  }
  adapt_trust_bundles(spec, local_pod, ctx);
  adapt_certificates(spec, local_pod, ctx);
  adapt_reads(spec, local_pod, remote_namespace, ctx);
  const json::object reads = forge_reads(local_pod, spec);
  if (std::string refusal = refuse_reads(reads); !refusal.empty())
    return kube::fail(kube::Errc::invalid_input, std::move(refusal));
  adapt_service_account(spec, local_pod, support);

  json::array tolerations = forge_tolerations(local_pod, ctx);
  const bool may_recurse = tolerates_every_taint(tolerations);
  if (!tolerations.empty()) spec["tolerations"] = std::move(tolerations);
  if (!ctx.patch.node_selector.empty()) spec["nodeSelector"] = ctx.patch.node_selector;
  if (const std::string name = runtime_class(local_pod, ctx); !name.empty()) spec["runtimeClassName"] = name;

  json::object labels = shadow_labels(local_pod, ctx);
  if (json::object affinity = forge_affinity(local_pod, labels, ctx, may_recurse); !affinity.empty())
    spec["affinity"] = std::move(affinity);
  drop_merged_label_keys(spec);

  ForgedShadowPod forged{.shadow = kube::Object::make(api::kinds::shadow_pods,
                                                      {std::string(remote_namespace), std::string(local_pod.name())}),
                         .dropped_fields = dropped_fields(local_spec, spec, host_ports_cleared),
                         .foreign_fields = foreign_fields(local_pod, ctx),
                         .read_namespace = describe_read_namespace(local_pod, remote_namespace, ctx)};
  if (std::string tokens = unsent_tokens(local_pod, ctx); !tokens.empty())
    forged.dropped_fields.push_back(std::move(tokens));
  json::object& metadata = forged.shadow.mutable_metadata();
  metadata["annotations"] = shadow_annotations(local_pod, labels, reads, ctx);
  metadata["labels"] = std::move(labels);
  forged.shadow.mutable_spec()["pod"] = std::move(spec);
  return forged;
}

}  // namespace liqo::core
