// Whether a copy, as the provider's API server stores it, is what is wanted.
#pragma once

#include <span>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

enum class Comparison {
  same,     ///< there is nothing to write
  differs,  ///< it can be made right by applying what is wanted
  replace,  ///< the API server does not let it be made right: the copy is deleted and made again
};

/// The parts of a kind that Kubernetes does not merge key by key, by the schema of the kind. Paths are keys with dots
/// between them, "spec.ports".
struct Schema {
  /// A list of maps that is merged: entries with the same values of these keys are the same entry.
  struct MergedList {
    std::string_view path;
    std::span<const std::string_view> keys;
  };
  std::span<const MergedList> merged_lists;
  /// Maps and lists that are replaced whole, so that nothing of somebody else can be in them.
  std::span<const std::string_view> atomic;
};

/// Whether `live` has all that is in `wanted`. Maps are compared key by key, merged lists entry by entry, other lists
/// in order, with entries that contain what is wanted of them. Values that a server does not store count as absent
/// ones: null, "", 0, false, and an empty list or map.
bool contains(const kube::json::object& live, const kube::json::object& wanted, const Schema& schema = {});

/// Whether two values are equal; values that a server does not store count as absent ones.
bool is_equal(const kube::json::value* left, const kube::json::value* right);

/// Same if the live object contains what is wanted beside the metadata, else differs. For kinds of which nothing is
/// immutable and no list is merged, and whose defaults home's API server has already filled in, as the provider's does.
Comparison compare_contained(const kube::Object& live, const kube::Object& wanted);

}  // namespace liqo::core::reflection
