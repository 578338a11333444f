#include "core/offloading/dropped_fields.hpp"

#include <algorithm>
#include <iterator>

#include "core/offloading/lost_fields.hpp"
#include "core/offloading/pod_certificates.hpp"
#include "core/offloading/pod_reads.hpp"
#include "core/offloading/trust_bundles.hpp"
#include "kube/base/text.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// Fields that have their effect at home, or are forged again for the provider. Among those that have neither are a
/// gang (schedulingGroup, in Kubernetes 1.35 workloadRef), which is one of home's objects, and evictionResponders:
/// evictions at the provider would wait for what runs at home.
constexpr std::string_view home_fields[] = {"affinity",
                                            "automountServiceAccountToken",
                                            "ephemeralContainers",
                                            "hostIPC",
                                            "hostNetwork",
                                            "hostPID",
                                            "nodeName",
                                            "nodeSelector",
                                            "preemptionPolicy",
                                            "priority",
                                            "priorityClassName",
                                            "readinessGates",
                                            "runtimeClassName",
                                            "schedulerName",
                                            "schedulingGates",
                                            "serviceAccount",
                                            "serviceAccountName",
                                            "tolerations"};

/// The most fields of each sort that the Event names.
constexpr std::size_t max_named = 16;

}  // namespace

std::vector<std::string> unsent_fields(const json::object& local_spec, const json::object& sent_spec) {
  std::vector<std::string> unsent;
  for (const auto& [key, value] : local_spec) {
    const std::string_view field = key;
    if (!asks_for_nothing(field, value) && !sent_spec.contains(field) &&
        std::ranges::find(home_fields, field) == std::end(home_fields))
      unsent.emplace_back(field);
  }
  return unsent;
}

std::vector<std::string> foreign_fields(const kube::Object& local_pod, const ForgingContext& ctx) {
  std::vector<std::string> foreign, sources_of_others;
  if (!gets_certificates(local_pod, ctx)) sources_of_others.emplace_back("podCertificate");
  if (!gets_home_trust(local_pod, ctx) && !reads_of_provider(local_pod))
    sources_of_others.emplace_back("clusterTrustBundle");
  const json::array& volumes = kube::array_at(local_pod.spec(), {"volumes"});
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const json::array& sources = kube::array_at(volumes[i], {"projected", "sources"});
    for (std::size_t j = 0; j < sources.size(); ++j)
      for (const std::string& source : sources_of_others)
        if (!kube::object_at(sources[j], {source}).empty())
          foreign.push_back("volumes[" + std::to_string(i) + "].projected.sources[" + std::to_string(j) + "]." +
                            source);
  }
  return foreign;
}

std::string describe_dropped_fields(const ForgedShadowPod& forged, const kube::Object& created,
                                    std::string_view provider) {
  std::vector<std::string> dropped = forged.dropped_fields;
  std::ranges::move(
      lost_fields(kube::object_at(forged.shadow.spec(), {"pod"}), kube::object_at(created.spec(), {"pod"})),
      std::back_inserter(dropped));
  const std::string cluster = "cluster " + std::string(provider);
  // What is of most weight stands first, because Events are cut. Such a field may be among the dropped ones, too.
  std::string words;
  if (!forged.foreign_fields.empty())
    words = "these would hold certificates and trust bundles of " + cluster +
            ", not of home: " + kube::join_some(forged.foreign_fields, max_named);
  if (dropped.empty()) return words;
  if (!words.empty()) words += "; ";
  return words + "these fields have no effect in " + cluster + ": " + kube::join_some(dropped, max_named);
}

}  // namespace liqo::core
