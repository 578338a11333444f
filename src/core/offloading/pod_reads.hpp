// The fields that a pod reads about itself, by the downward API: a remote pod is told what home would tell. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The most bytes, keys and values, of the annotations by which such fields of one pod travel.
inline constexpr std::size_t max_read_bytes = 200 * 1024;

/// The annotation of a ShadowPod and its Pod by which something travels that the pod reads, and that the provider would
/// leave out or has otherwise: `offloading.liqo.io/read.` and 32 hex digits of the SHA-256 of what is read. That is the
/// key of an annotation, or `field:` and a path, such as `field:metadata.labels['kueue.x-k8s.io/queue-name']`. The
/// domain passes the providers of every version, and no provider looks at the annotation.
std::string read_annotation(std::string_view what);

/// Whether the pod is to read what its provider knows: its annotations ask for that, or for the provider's API server.
bool reads_of_provider(const kube::Object& local_pod);

/// Whether the pod reads the name that its namespace has at home. So does a pod whose twin has that name, one with a
/// token for home's API server, and one that resolves the names of home (`ForgingContext::knows_home_names`).
bool reads_home_namespace(const kube::Object& local_pod, std::string_view remote_namespace, const ForgingContext& ctx);

/// Makes the containers, of all sorts, and the volumes of a pod spec that is to be sent read what home would tell.
/// Variables of what cannot change become literals; other references lead to a `read_annotation`. Addresses, amounts of
/// resources and what is the same on both sides stay as they are.
void adapt_reads(kube::json::object& pod_spec, const kube::Object& local_pod, std::string_view remote_namespace,
                 const ForgingContext& ctx);

/// The annotations to which the references of a pod spec that was sent lead, with what they hold at home by now; ""
/// stands for a key that the pod does not have. There are none for a spec that an earlier version sent.
kube::json::object forge_reads(const kube::Object& local_pod, const kube::json::object& sent_spec);

/// Why so much cannot be sent, "" = it can: the sentence names the sum. `reads` are those of `forge_reads`.
std::string refuse_reads(const kube::json::object& reads);

/// Whether one of `reads`, or of all annotations of a Pod, stands for this annotation of the pod at home, or for all.
bool has_read(const kube::json::object& reads, std::string_view annotation);

/// The sentence of the Event about a pod that reads its namespace, and is told the name of the twin; "" = there is no
/// such Event. The file beside a token does not count: almost every pod has it.
std::string describe_read_namespace(const kube::Object& local_pod, std::string_view remote_namespace,
                                    const ForgingContext& ctx);

}  // namespace liqo::core
