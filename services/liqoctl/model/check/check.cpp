#include "model/check/check.hpp"

#include <algorithm>
#include <cctype>

#include "core/common/resources.hpp"
#include "core/peering/clock_skew.hpp"
#include "core/slices/policy.hpp"
#include "core/slices/record.hpp"
#include "kube/base/quantity.hpp"
#include "kube/base/text.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/quota.hpp"
#include "model/findings.hpp"
#include "model/info/peer_info.hpp"
#include "model/install/kinds.hpp"
#include "model/resources.hpp"
#include "text/duration.hpp"
#include "text/shown.hpp"
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

std::string some_of(const std::vector<std::string>& names) { return kube::join_some(names, max_named); }

/// The reason of a kubelet why an image is missing, without the names of the kubelet's own parts.
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

std::string role_in_words(std::string_view role) {
  if (role == "Provider") return "is a provider of this cluster";
  if (role == "Consumer") return "is a consumer of this cluster";
  if (role == "ConsumerAndProvider") return "is a consumer and a provider of this cluster";
  return "has no role yet";
}

/// Whether a slice that does not name the resource is given a usual amount of it.
bool has_usual_amount(std::string_view resource) { return resource == "pods" || resource == "ephemeral-storage"; }

std::string peer_id(const kube::Object& peer) { return shown(string_at(peer.spec(), {"clusterID"})); }

/// The states of a daemon that does not run.
constexpr std::string_view scaled_to_none = "is scaled to none", not_up = "is not up: ";

std::int64_t replicas_of(const kube::Object& deployment) { return kube::int_at(deployment.spec(), {"replicas"}); }

}  // namespace

Finding judge_clock(std::optional<std::chrono::seconds> ahead) {
  if (!ahead) return open("clock", "the API server does not send its time");
  if (core::settle_clock(std::chrono::seconds(0), *ahead).count() == 0)
    return good("clock", "the clocks of the API server and of this machine agree");
  return bad("clock", "the API server's clock is " + text::age(std::chrono::abs(*ahead)) +
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
      // A CRD that allows more than this version's is not replaced by it.
      if (const auto more = lost_between(found->tree(), manifest); !more.empty())
        other.push_back(name + " (it does not take " + lacks.front() + ", and takes " + shown(more.front()) + ")");
      else
        old.push_back(name);
    }
  }
  const std::string mend = ": liqoctl upgrade --kinds brings them up to date";
  if (!missing.empty()) return bad("CRDs", "not there: " + some_of(missing) + mend);
  if (!unserved.empty())
    return bad("CRDs", "not served: " + some_of(unserved) + ": kubectl describe crd " + unserved.front() + " says why");
  if (!other.empty())
    return bad("CRDs", "of another version of Liqo: " + some_of(other) +
                           ": use its liqoctl and liqod, or a newer release of these");
  if (!old.empty()) return bad("CRDs", "older than this liqoctl: " + some_of(old) + mend);
  return good("CRDs", "all " + std::to_string(count) + " are served");
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
  const std::string mend =
      ": liqoctl upgrade, or helm upgrade, with the values of which liqod has its arguments puts them right";
  if (!missing.empty()) return bad("rights", "liqod lacks " + some_of(missing) + mend);
  if (!other.empty()) return bad("rights", "not as this version needs them: " + some_of(other) + mend);
  return good("rights", "liqod has what this version needs");
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
  if (replicas_of(*deployment) == 0)
    return bad("liqod", std::string(scaled_to_none) + ": kubectl scale -n " + ns + " deployment/liqod --replicas=2");
  if (!trouble.empty())
    return bad("liqod", std::string(not_up) + shown(trouble) + ": kubectl logs -n " + ns +
                            " -l app.kubernetes.io/name=liqod --prefix --tail=200");
  return good("liqod", counted(std::size_t(replicas_of(*deployment)), "replica runs", "replicas run"));
}

std::string daemon_alert(const kube::Object* deployment, bool is_ours) {
  if (!deployment) return {};
  constexpr std::string_view unanswered = "no replica answers", ask = ": ask its operator to start it";
  const auto of_status = [deployment](std::string_view key) { return kube::int_at(deployment->status(), {key}); };
  const bool is_down = of_status("observedGeneration") > 0 && of_status("availableReplicas") == 0;
  const Finding finding = judge_daemon(deployment, is_down ? unanswered : "");
  if (finding.state != State::bad) return {};
  if (is_ours) return finding.text;
  const bool is_scaled = replicas_of(*deployment) == 0;
  return (is_scaled ? std::string(scaled_to_none) : std::string(not_up) + std::string(unanswered)) + std::string(ask);
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
  if (here.empty() && peer.empty()) return open("versions", told + ", and no Deployment names that of liqod");
  if (differs(here) || differs(peer))
    return bad("versions", told + ": bring the older ones up to date, and use the liqoctl of the same release");
  return good("versions", told);
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
  return good("certificates", counted(certificates.size(), "is valid, until ", "are valid, the first one until ") +
                                  kube::format_time(first));
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

Finding judge_sharing(const kube::Object* config_map, const std::vector<kube::Object>& tenants) {
  std::string wrong;
  const auto add = [&wrong](const std::string& sentence) { wrong += (wrong.empty() ? "" : "; ") + shown(sentence); };
  if (config_map) {
    const core::PolicyReading reading = core::read_policy({}, config_map, nullptr);
    for (const auto& [name, why] : reading.policy.unknown)
      add("ConfigMap " + config_map->key().text() + ", " + name + ": " + why);
  }
  for (const kube::Object& tenant : tenants)
    if (const auto read = core::read_tenant_percentage(tenant); !read)
      add("Tenant " + tenant.key().text() + ", " + read.error().text());
  if (wrong.empty()) return good("settings", "what this cluster shares can be read");
  return bad("settings", wrong +
                             ": what they said before holds on, or if liqod has started since, nothing new is "
                             "granted: correct them");
}

bool offers_storage(const kube::Object* config_map) {
  return config_map && core::read_policy({}, config_map, nullptr).policy.storage_enabled;
}

std::optional<Finding> judge_storage(const kube::Object* config_map, const std::vector<kube::Object>& storage_classes) {
  constexpr std::string_view about = "storage";
  if (!offers_storage(config_map)) return std::nullopt;
  const core::ReadPolicy settings = core::read_policy({}, config_map, nullptr).policy;
  const std::string name = shown(settings.storage_class);
  if (!name.empty()) {
    if (std::ranges::any_of(storage_classes,
                            [&](const kube::Object& one) { return one.name() == settings.storage_class; }))
      return good(about, "StorageClass " + name + " is there");
    return bad(about, "there is no StorageClass " + name +
                          " (value storage.realStorageClassName), so claims of Liqo's class get no volume here: create "
                          "it, or name another one");
  }
  for (const kube::Object& one : storage_classes)
    if (one.annotation("storageclass.kubernetes.io/is-default-class") == "true")
      return good(about, "StorageClass " + shown(one.name()) + " is the default one");
  return open(about,
              "there is no default StorageClass, and storage.realStorageClassName names none, so claims of Liqo's "
              "class get no volume here");
}

Finding judge_quotas(const std::vector<kube::Object>& quotas, const std::vector<kube::Object>& tenants) {
  if (quotas.empty()) return open("quotas", "nothing is granted to others");
  std::vector<std::string> full;
  for (const kube::Object& quota : quotas) {
    // The end of a pod in such a Quota makes no room for new pods.
    if (liqo::api::Quota(quota).is_cordoned() || is_quota_drained(quota, tenants)) continue;
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
    return open("quotas", "used up: " + some_of(full) +
                              ": new pods wait until others end, or until the consumer asks for more (liqoctl create "
                              "resourceslice)");
  return good("quotas", quotas.size() == 1 ? "there is 1, and it is not used up"
                                           : "there are " + std::to_string(quotas.size()) + ", and none is used up");
}

std::optional<Finding> judge_capacity(const std::vector<kube::Object>& quotas, const std::vector<kube::Object>& nodes,
                                      const std::vector<kube::Object>& tenants) {
  core::Resources granted, held;
  for (const kube::Object& quota : quotas) {
    const liqo::api::Quota view(quota);
    const auto owner = quota.controller();
    const auto record = core::read_slice_record(quota, owner ? owner->uid : "");
    const auto amounts = core::read_resources(view.resources()),
               used = core::read_resources(counted_use(quota.status()));
    if (!amounts || !used) continue;
    const bool is_drained = is_quota_drained(quota, tenants);
    for (const auto& [key, amount] : *amounts) {
      const bool is_usual = has_usual_amount(key) && !(record && record->request.contains(key));
      if (is_usual || is_drained) {
        held[key] += core::amount(*used, key);
      } else {
        granted[key] += amount;
      }
    }
  }
  core::Resources all = granted;
  core::add(all, held);
  core::drop_zeros(all);
  if (all.empty() || nodes.empty()) return std::nullopt;
  if (const std::string beyond = beyond_nodes(core::write_resources(all), nodes); !beyond.empty())
    return open("capacity",
                "lent to all together more than the cluster has: " + beyond + "; pods that find no room stay Pending");
  core::drop_zeros(granted);
  if (granted.empty()) return std::nullopt;
  const json::object told = core::write_resources(granted);
  return good("capacity",
              "lent to all together: " + in_words(told) + "; the nodes have " + in_words(had_by_nodes(told, nodes)));
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

std::vector<Finding> judge_peers(const std::vector<kube::Object>& peers, const ClosingObjects& objects) {
  std::vector<Finding> out;
  for (const kube::Object& peer : peers) {
    const std::string id = peer_id(peer), about = "peer " + id;
    const json::object info = peer_info(objects_of(peer, objects));
    std::vector<std::string> alerts;
    for (const json::value& condition : array_at(peer.status(), {"conditions"}))
      if (!is_well(string_at(condition, {"status"})))
        alerts.push_back(shown(string_at(condition, {"type"})) + ": " + shown(string_at(condition, {"message"})));
    for (const char* module : {"authentication", "offloading"})
      for (const json::value& alert : array_at(info, {module, "alerts"}))
        if (const auto* words = alert.if_string()) alerts.emplace_back(*words);
    if (!alerts.empty()) {
      out.push_back(bad(about, some_of(alerts) + " (liqoctl info peer " + id + ")"));
    } else if (const auto closings = closings_with(string_at(peer.spec(), {"clusterID"}), objects); !closings.empty()) {
      out.push_back(open(about, role_in_words(string_at(info, {"info", "role"})) + "; " + some_of(closings)));
    } else {
      out.push_back(good(about, role_in_words(string_at(info, {"info", "role"})) + "; nothing is wrong"));
    }
  }
  if (out.empty()) out.push_back(open("peers", "there are none yet (liqoctl peer)"));
  return out;
}

void put_first_things_first(std::vector<Finding>& findings) {
  for (const std::string_view about : {"webhooks", "liqod"}) {
    const auto found = std::ranges::find_if(
        findings, [about](const Finding& finding) { return finding.about == about && finding.state == State::bad; });
    if (found != findings.end()) std::rotate(findings.begin(), found, found + 1);
  }
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
