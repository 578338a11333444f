#include "model/check.hpp"

#include <algorithm>
#include <cctype>

#include "kube/base/base64.hpp"
#include "kube/base/quantity.hpp"
#include "kube/k8s/condition.hpp"
#include "kube/wire/server_url.hpp"
#include "liqo/api/auth_params.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/tenant.hpp"
#include "liqo/core/figures/metrics_api.hpp"
#include "liqo/core/peering/api_server_address.hpp"
#include "liqo/core/peering/clock_skew.hpp"
#include "model/kinds.hpp"
#include "model/peer_info.hpp"
#include "model/platform.hpp"
#include "model/resources.hpp"
#include "text/duration.hpp"
#include "text/shown.hpp"
#include "text/some_of.hpp"
#include "text/width.hpp"

namespace liqoctl::model {
namespace {

namespace core = liqo::core;
namespace json = kube::json;
namespace kinds = liqo::api::kinds;
using kube::array_at;
using kube::string_at;
using text::shown;

constexpr std::size_t max_named = 3;

Finding good(std::string_view about, std::string text) { return {std::string(about), State::good, std::move(text)}; }
Finding bad(std::string_view about, std::string text) { return {std::string(about), State::bad, std::move(text)}; }
Finding open(std::string_view about, std::string text) { return {std::string(about), State::open, std::move(text)}; }

std::string some_of(const std::vector<std::string>& names) { return text::some_of(names, max_named); }

std::string counted(std::size_t count, std::string_view one, std::string_view several) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : several);
}

/// What a kubelet says of an image that it has not got, without the names of its own parts.
std::string why_not_pulled(std::string_view reason, std::string_view message) {
  for (const std::string_view before : {"desc = ", "ErrImagePull: "})
    if (const std::size_t at = message.rfind(before); at != std::string_view::npos)
      return std::string(message.substr(at + before.size()));
  return std::string(message.empty() ? reason : message);
}

const kube::Object* find(const std::vector<kube::Object>& there, const json::value& wanted) {
  const auto found = std::ranges::find_if(there, [&](const kube::Object& object) {
    return object.kind() == string_at(wanted, {"kind"}) && object.name() == string_at(wanted, {"metadata", "name"}) &&
           object.key().ns == string_at(wanted, {"metadata", "namespace"});
  });
  return found == there.end() ? nullptr : &*found;
}

/// The value of an argument of the daemon, "--name=value".
std::string_view argument(const kube::Object* deployment, std::string_view name) {
  if (!deployment) return {};
  for (const json::value& container : array_at(deployment->spec(), {"template", "spec", "containers"}))
    for (const json::value& word : array_at(container, {"args"}))
      if (const auto* text = word.if_string(); text && std::string_view(*text).starts_with(name))
        return std::string_view(*text).substr(name.size());
  return {};
}

bool has_argument(const kube::Object* deployment, std::string_view word) {
  if (!deployment) return false;
  for (const json::value& container : array_at(deployment->spec(), {"template", "spec", "containers"}))
    for (const json::value& one : array_at(container, {"args"}))
      if (const auto* text = one.if_string(); text && std::string_view(*text) == word) return true;
  return false;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host == "0.0.0.0" || host.starts_with("127.");
}

std::string peer_id(const kube::Object& peer) { return shown(string_at(peer.spec(), {"clusterID"})); }

}  // namespace

Finding judge_clock(std::optional<std::chrono::seconds> ahead) {
  if (!ahead) return open("clock", "the API server does not tell the time");
  if (core::settle_clock(std::chrono::seconds(0), *ahead).count() == 0)
    return good("clock", "that of the API server agrees with this machine's");
  return bad("clock", "that of the API server is " + text::age(std::chrono::abs(*ahead)) +
                          (ahead->count() > 0 ? " ahead of" : " behind") +
                          " this machine's: synchronise both, because certificates and tokens go by them");
}

Finding judge_kinds(const std::vector<json::value>& wanted, const std::vector<kube::Object>& there) {
  std::vector<std::string> missing, unserved, other, old;
  std::size_t count = 0;
  for (const json::value& manifest : wanted) {
    if (string_at(manifest, {"kind"}) != kinds::custom_resource_definitions.kind) continue;
    ++count;
    const std::string name(string_at(manifest, {"metadata", "name"}));
    const kube::Object* found = find(there, manifest);
    if (!found) {
      missing.push_back(name);
    } else if (!kube::has_condition(*found, "Established")) {
      unserved.push_back(name);
    } else if (const auto lacks = lost_between(manifest, found->tree()); !lacks.empty()) {
      // What takes more than this version is not replaced by it.
      if (const auto more = lost_between(found->tree(), manifest); !more.empty())
        other.push_back(name + " (it does not take " + lacks.front() + ", and takes " + shown(more.front()) + ")");
      else
        old.push_back(name);
    }
  }
  const std::string mend = ": liqoctl upgrade --kinds brings them up to date";
  if (!missing.empty()) return bad("kinds", "not there: " + some_of(missing) + mend);
  if (!unserved.empty())
    return bad("kinds",
               "not served: " + some_of(unserved) + ": kubectl describe crd " + unserved.front() + " says why");
  if (!other.empty())
    return bad("kinds", "of another version of Liqo: " + some_of(other) +
                            ": use its liqoctl and liqod, or a newer release of these");
  if (!old.empty()) return bad("kinds", "older than this liqoctl: " + some_of(old) + mend);
  return good("kinds", "all " + std::to_string(count) + " are served");
}

Finding judge_rights(const std::vector<json::value>& wanted, const std::vector<kube::Object>& there) {
  std::vector<std::string> missing, other;
  for (const json::value& manifest : wanted) {
    const std::string_view kind = string_at(manifest, {"kind"});
    const bool binds = kind == kinds::cluster_role_bindings.kind || kind == kinds::role_bindings.kind;
    if (!binds && kind != kinds::cluster_roles.kind && kind != kinds::roles.kind) continue;
    const std::string name = std::string(kind) + " " + std::string(string_at(manifest, {"metadata", "name"}));
    const kube::Object* found = find(there, manifest);
    if (!found) {
      missing.push_back(name);
    } else if (binds ? array_at(found->tree(), {"subjects"}) != array_at(manifest, {"subjects"})
                     : array_at(found->tree(), {"rules"}) != array_at(manifest, {"rules"})) {
      other.push_back(name);
    }
  }
  const std::string mend = ": liqoctl upgrade, or helm upgrade, puts them right";
  if (!missing.empty()) return bad("rights", "liqod lacks " + some_of(missing) + mend);
  if (!other.empty()) return bad("rights", "not those of this version: " + some_of(other) + mend);
  return good("rights", "liqod has those of this version");
}

std::string trouble_of(const kube::Object& pod) {
  for (const json::value& container : array_at(pod.tree(), {"status", "containerStatuses"})) {
    const json::object& waiting = kube::object_at(container, {"state", "waiting"});
    if (waiting.empty()) continue;
    const std::string_view reason = string_at(waiting, {"reason"}), message = string_at(waiting, {"message"});
    for (const std::string_view pull : {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"})
      if (reason == pull)
        return "image " + std::string(string_at(container, {"image"})) + " cannot be pulled (" +
               why_not_pulled(reason, message) +
               "): load it on the nodes, push it to a registry that they reach, or set image.repository, tag, "
               "pullPolicy "
               "and imagePullSecrets otherwise";
    return std::string(reason) + " " + std::string(message);
  }
  for (const json::value& condition : array_at(pod.tree(), {"status", "conditions"}))
    if (string_at(condition, {"status"}) == "False" && !string_at(condition, {"message"}).empty())
      return std::string(string_at(condition, {"message"}));
  return {};
}

Finding judge_daemon(const kube::Object* deployment, std::string_view trouble) {
  if (!deployment) return open("liqod", "there is no Deployment: it runs outside of the cluster, or not at all");
  const std::string ns = deployment->key().ns;
  const std::int64_t replicas = kube::int_at(deployment->spec(), {"replicas"});
  if (replicas == 0)
    return bad("liqod", "is scaled to none: kubectl scale -n " + ns + " deployment/liqod --replicas=2");
  if (!trouble.empty())
    return bad("liqod", "is not up: " + shown(trouble) + ": kubectl logs -n " + ns + " deployment/liqod");
  return good("liqod", counted(std::size_t(replicas), "replica runs", "replicas run"));
}

Finding judge_versions(std::string_view here, std::string_view peer, std::string_view program) {
  const auto bare = [](std::string_view version) { return version.starts_with('v') ? version.substr(1) : version; };
  // An image may have any tag.
  const auto differs = [&](std::string_view other) {
    return !bare(other).empty() && std::isdigit(static_cast<unsigned char>(bare(other).front())) != 0 &&
           bare(other) != bare(program);
  };
  std::string told = "liqoctl " + std::string(program);
  if (!here.empty()) told += ", liqod " + shown(here);
  if (!peer.empty()) told += ", liqod of the peer " + shown(peer);
  if (here.empty() && peer.empty()) return open("versions", told + ", and no Deployment tells that of liqod");
  if (differs(here) || differs(peer))
    return bad("versions", told + ": bring the older ones up to date, and use the liqoctl of the same release");
  return good("versions", told);
}

Finding judge_webhooks(const kube::Object* deployment, std::size_t configurations,
                       const std::optional<std::string>& refusal) {
  if (argument(deployment, "--webhook-port=") == "0")
    return open("webhooks", "are switched off (value webhook.port), and with them what keeps tenants in bounds");
  if (configurations < 2)
    return bad("webhooks", "their configurations are not there: liqod writes them when it leads; look at its log");
  if (!refusal)
    return bad("webhooks", "the API server took what they refuse: it does not reach them, or is not told to");
  if (refusal->contains("must be called")) return good("webhooks", "the API server asks them, and they answer");
  if (!refusal->contains("failed calling webhook")) return bad("webhooks", "cannot be tried out: " + shown(*refusal));
  return bad("webhooks", "the API server does not reach them (" + shown(*refusal) +
                             "): liqod has to run, and its port 9443 to be open for the API server");
}

Finding judge_certificates(const std::vector<Certificate>& certificates, kube::WallTime now) {
  if (certificates.empty()) return open("certificates", "there are none yet");
  std::vector<std::string> late;
  kube::WallTime first = kube::WallTime::max();
  for (const Certificate& one : certificates) {
    if (!one.times) {
      late.push_back(one.what + " cannot be read");
      continue;
    }
    const auto& [from, until] = *one.times;
    first = std::min(first, until);
    if (now >= until) {
      late.push_back(one.what + " has expired at " + kube::format_time(until));
    } else if ((until - now) * 6 < until - from) {
      late.push_back(one.what + " expires at " + kube::format_time(until));
    }
  }
  if (!late.empty()) return bad("certificates", some_of(late) + ": liqod renews them long before; look at its log");
  return good("certificates",
              counted(certificates.size(), "is", "are") + " valid, the first until " + kube::format_time(first));
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
  // In a pod there is no other.
  if (!deployment) address.url = own_server;
  return address;
}

Finding judge_address(const ApiServerAddress& address, std::string_view trouble) {
  constexpr std::string_view about = "API server";
  const std::string mend = "; give the one that consumers reach with --api-server-url (value apiServer.address)";
  if (address.url.empty()) return bad(about, "no control-plane node tells its address" + mend);
  const std::string url = shown(address.url);
  const auto read = kube::wire::parse_server_url(address.url);
  if (!read) return bad(about, url + " is no address" + mend);
  if (is_loopback(read->host)) return bad(about, url + " leads every consumer to itself" + mend);
  if (address.through_proxy) return open(about, "consumers reach " + url + " through a proxy, as they were told");
  if (!trouble.empty())
    return bad(about, url + " is what consumers are told, and does not answer here: " + shown(trouble) + mend);
  return good(about, "answers at " + url + ", as consumers are told");
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

Finding judge_metrics(const kube::Object* deployment, const MetricsLook& look) {
  constexpr std::string_view about = "metrics";
  if (!deployment) return open(about, "there is no Deployment liqod whose metrics could be asked for");
  if (!look.has_service)
    return open(about,
                "there is no Service liqod-metrics through which they could be asked for (value metrics.enabled)");
  if (look.trouble.empty()) return good(about, "the API server reaches port " + shown(metrics_port(deployment)));
  if (look.confined)
    return open(about,
                "the NetworkPolicy liqod names who reaches port " + shown(metrics_port(deployment)) +
                    ", and the API server is not among them: the scrapers themselves show whether they reach it");
  return bad(about,
             "the API server does not reach port " + shown(metrics_port(deployment)) + " (" + shown(look.trouble) +
                 "), and neither may scrapers: a pod of liqod has to be ready, and the port (value metrics.port) open");
}

Finding judge_figures(const kube::Object* deployment, const kube::Object* api_service, std::string_view ns) {
  constexpr std::string_view about = "figures";
  const std::string name(core::metrics_api_service);
  const std::string_view port = argument(deployment, "--metric-agent-port=");
  const bool is_on = !port.empty() && port != "0";
  if (!api_service && !is_on)
    return open(about, "consumers are told none of their pods' use (value metricAgent.enabled)");
  if (!api_service)
    return bad(about, "there is no APIService " + name + ": liqod writes it when it leads; look at its log");
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
  if (string_at(*available, {"status"}) == "True")
    return good(about, "the API server reaches what tells consumers of their pods' use");
  return bad(about, "APIService " + name + " is not available (" + shown(string_at(*available, {"message"})) +
                        "), and until it is, Kubernetes removes no namespace: liqod has to run, and its port " +
                        std::string(is_on ? port : "8443") + " to be open for the API server, or the APIService to go");
}

Finding judge_ranges(const std::vector<kube::Object>& peers, const std::vector<OwnRange>& own) {
  std::size_t declared = 0;
  for (const kube::Object& peer : peers) {
    const std::string_view told = peer.annotation(liqo::api::annotations::remote_pod_cidrs);
    if (told.empty() || told == "none") continue;
    const auto ranges = core::parse_ranges(told);
    if (!ranges) return bad("addresses", "those of " + peer_id(peer) + ": " + ranges.error().text());
    if (const auto apart = check_overlap(peer_id(peer), *ranges, own); !apart)
      return bad("addresses", shown(apart.error().text()));
    ++declared;
  }
  if (declared == 0) return open("addresses", "no ranges of peers' pods are declared");
  return good("addresses", "no range of a peer overlaps with one of this cluster");
}

Finding judge_quotas(const std::vector<kube::Object>& quotas) {
  if (quotas.empty()) return open("quotas", "nothing is granted to others");
  std::vector<std::string> full;
  for (const kube::Object& quota : quotas) {
    const json::object used = counted_use(quota.status());
    for (const auto& [key, amount] : kube::object_at(quota.spec(), {"resources"})) {
      const json::value* now = used.if_contains(key);
      if (!now) continue;
      const auto granted = kube::Quantity::from_json(amount), taken = kube::Quantity::from_json(*now);
      if (granted && taken && *granted > kube::Quantity() && *taken >= *granted)
        full.push_back(shown(quota.key().text()) + " (" + shown(key) + " " + taken->text() + " of " + granted->text() +
                       ")");
    }
  }
  if (!full.empty())
    return bad("quotas",
               "used up: " + some_of(full) + ": the consumer asks for more with liqoctl create resourceslice");
  return good("quotas", quotas.size() == 1
                            ? "something is left of the quota"
                            : "something is left of each of the " + std::to_string(quotas.size()) + " quotas");
}

std::optional<Finding> judge_virtual_kubelets(const std::vector<kube::ObjectKey>& deployments) {
  if (deployments.empty()) return std::nullopt;
  std::vector<std::string> names;
  names.reserve(deployments.size());
  for (const kube::ObjectKey& key : deployments) names.push_back(shown(key.text()));
  return bad("virtual kubelets",
             "of the Go version are there, and would write the same Nodes and pods as liqod: " + some_of(names) +
                 ": kubectl delete deployments -A -l " + std::string(virtual_kubelets));
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

std::vector<Finding> judge_peers(const std::vector<kube::Object>& peers) {
  std::vector<Finding> out;
  for (const kube::Object& peer : peers) {
    const std::string id = peer_id(peer), about = "peer " + id;
    const json::object info = peer_info({.foreign_cluster = peer});
    std::vector<std::string> alerts;
    for (const json::value& condition : array_at(peer.status(), {"conditions"}))
      if (const auto status = string_at(condition, {"status"}); status != "Established" && status != "Ready")
        alerts.push_back(shown(string_at(condition, {"type"})) + ": " + shown(string_at(condition, {"message"})));
    for (const char* module : {"authentication", "offloading"})
      for (const json::value& alert : array_at(info, {module, "alerts"}))
        if (const auto* words = alert.if_string()) alerts.emplace_back(*words);
    if (!alerts.empty()) {
      out.push_back(bad(about, some_of(alerts) + " (liqoctl info peer " + id + ")"));
    } else {
      out.push_back(good(about, shown(string_at(info, {"info", "role"})) + ", and well"));
    }
  }
  if (out.empty()) out.push_back(open("peers", "there are none yet (liqoctl peer)"));
  return out;
}

bool all_well(const std::vector<Finding>& findings) {
  return std::ranges::none_of(findings, [](const Finding& finding) { return finding.state == State::bad; });
}

std::string render(const std::vector<Finding>& findings, const text::Palette& palette) {
  std::size_t columns = 0;
  for (const Finding& finding : findings) columns = std::max(columns, text::width(finding.about));
  std::string out;
  for (const Finding& finding : findings) {
    const std::string mark = finding.state == State::good  ? palette.good("✔")
                             : finding.state == State::bad ? palette.bad("✖")
                                                           : palette.faint("•");
    out += mark + " " + text::padded(finding.about, columns) + "  " + finding.text + "\n";
  }
  return out;
}

json::object document(const std::vector<Finding>& findings) {
  json::array checks;
  for (const Finding& finding : findings)
    checks.push_back(json::object{{"about", finding.about},
                                  {"state", finding.state == State::good  ? "good"
                                            : finding.state == State::bad ? "bad"
                                                                          : "open"},
                                  {"text", finding.text}});
  return {{"passed", all_well(findings)}, {"checks", std::move(checks)}};
}

}  // namespace liqoctl::model
