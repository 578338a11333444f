// The trust bundles of home (ClusterTrustBundles, KEP-3257) in pods at a provider: which a pod mounts, what they hold,
// and the ConfigMap that brings them. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The most bytes that the trust bundles of one pod may have together: a ConfigMap holds 1 MiB.
inline constexpr std::size_t max_trust_bytes = 512 * 1024;

/// What one projected `clusterTrustBundle` of a pod asks for.
struct TrustSource {
  std::string key;                             ///< in the ConfigMap: a digest of the other members
  std::string name;                            ///< of one bundle; "" = those of a signer
  std::string signer;                          ///< of bundles with the labels of `selector`
  std::optional<kube::json::object> selector;  ///< a LabelSelector; nothing = it matches no bundle
  bool optional = false;                       ///< the file is empty if there is no such bundle
};
using TrustSources = std::vector<TrustSource>;

/// What the pod asks for, each once, in the order of the keys. Empty = it mounts no trust bundles.
TrustSources trust_sources(const kube::Object& local_pod);

/// Whether the pod is to get the bundles of home, if this process can read them.
bool wants_home_trust(const kube::Object& local_pod, const ForgingContext& ctx);
/// Whether a pod that is sent now gets them: see `ForgingContext::reads_trust_bundles`.
bool gets_home_trust(const kube::Object& local_pod, const ForgingContext& ctx);

/// Makes the projected volumes of a pod spec that is to be sent read the ConfigMap, if the pod gets the bundles of
/// home.
void adapt_trust_bundles(kube::json::object& pod_spec, const kube::Object& local_pod, const ForgingContext& ctx);

/// The name of the ConfigMap: all pods in a twin that ask for the same have one together.
std::string trust_copy_name(const TrustSources& sources);
/// The ConfigMaps that projected volumes of this ShadowPod name; those of trust bundles are among them.
std::vector<std::string> projected_config_maps(const kube::Object& shadow);
/// Whether the ShadowPod mounts the ConfigMap of these sources.
bool mounts_trust_copy(const kube::Object& shadow, const TrustSources& sources);

/// Whether a source that names a signer takes this bundle.
bool selects(const TrustSource& source, const kube::Object& bundle);
/// The certificates of these texts as a kubelet writes them: each once, without what stands between them. A kubelet
/// shuffles them, and here they are in a fixed order.
std::string merge_anchors(std::span<const std::string> texts);

/// The files of one ConfigMap.
struct TrustTexts {
  std::map<std::string, std::string, std::less<>> by_key;
  std::vector<std::string> missing;  ///< what there is none of, in words

  std::size_t bytes() const;
};
/// Notes that there is no bundle for a source: the file is empty, or the pod waits for it.
void note_missing(TrustTexts& texts, const TrustSource& source);
/// The sentence of the pod's Event about what is missing, or too large; "" = all is well.
std::string describe_trust(const TrustTexts& texts, const ClusterPair& clusters);

/// The ConfigMap in the twin.
kube::Object forge_trust_copy(const kube::ObjectKey& key, const TrustTexts& texts, const ClusterPair& clusters);
/// Whether an object of that name is such a ConfigMap of this consumer.
bool is_trust_copy(const kube::Object& object, const ClusterPair& clusters);
/// Whether the ConfigMap, of which the metadata are enough, holds this.
bool is_up_to_date(const kube::Object& copy, const kube::Object& wanted);

}  // namespace liqo::core
