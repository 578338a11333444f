// Metadata of reflected objects: which labels and annotations are copied, and how objects that we made are recognised.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// True if both labels name exactly this pair: the object was made by reflection from `local` to `remote`.
bool is_reflected(const kube::Object& remote_object, const ClusterPair& clusters);

/// Whether the ShadowPod or Pod at the provider was made for another pod. One without a UID counts as this pod's.
bool is_for_another(const kube::Object& remote_object, const kube::Object& local_pod);

/// The labels of a reflected object: the local ones without those that mean something only at home or are excluded by
/// the offloading patch, and the two reflection labels.
kube::json::object reflected_labels(const kube::Object& local, const ForgingContext& ctx);
/// The annotations of a reflected object: the local ones without ours, without kubectl's copy of the manifest, and
/// without those that are excluded by the offloading patch.
kube::json::object reflected_annotations(const kube::Object& local, const ForgingContext& ctx);

/// Whether liqod itself writes a label or an annotation of this key, on a pod at home or on what is made of an object
/// at the provider, so that nobody else means anything by it.
bool is_written_label(std::string_view key);
bool is_written_annotation(std::string_view key);

/// The bytes of keys and values, as an API server counts the annotations of an object. It takes 262,144 at most.
std::size_t annotation_bytes(const kube::json::object& annotations);

/// Whether `have` has every entry of `wanted` with the same value.
bool covers(const kube::json::object& have, const kube::json::object& wanted);

/// The value of `offloading.liqo.io/reflected-keys` for these labels and annotations.
std::string reflected_keys(const kube::json::object& labels, const kube::json::object& annotations);

/// A merge patch of `metadata.labels` and `metadata.annotations` that gives `live` the wanted entries and removes those
/// which an earlier reflection set and which are no longer wanted; entries of others stay. If `live` does not list what
/// reflection set (it is of the Go version), every entry that is not wanted is removed if `owns_unlisted`, except the
/// creator's label; else none is. Empty = nothing to do.
kube::json::object metadata_patch(const kube::Object& live, const kube::json::object& labels,
                                  const kube::json::object& annotations, bool owns_unlisted);

}  // namespace liqo::core
