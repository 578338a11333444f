// The checks and changes of an API server on an object's way into the store: defaults, immutable fields, status
// separation, generations, the pod rules that controllers trip over. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "kube/testing/fake/kind.hpp"
#include "kube/testing/fake/status.hpp"

namespace kube::testing {

/// Whether its deletion has begun.
bool is_deleting(const json::object& object);
/// Whether a pod has ended, well or not.
bool is_finished(const json::object& pod);

/// What the server itself contributes to a new object.
struct Stamp {
  std::string now;  ///< meta/v1 Time
  std::string uid;
  std::string suffix;  ///< appended to generateName
};

/// Fills in metadata and defaults of an object to be created in namespace `ns` ("" for cluster-wide kinds).
/// Errors: 400 (namespace mismatch, resourceVersion set), 422 (no name, bad name, pod without containers).
Answer<> prepare_create(const FakeKind& kind, std::string_view ns, json::object& object, const Stamp& stamp);

/// Turns `after` (as a client wrote it) into what is stored over `before`. Errors: 409 (resourceVersion, uid),
/// 422 (immutable pod fields, containers that leave a final state, new finalizers while deleting).
Answer<> prepare_update(const FakeKind& kind, std::string_view subresource, const json::object& before,
                        json::object& after);

/// How a pod's deletion goes: the grace period that applies, 0 for "at once".
std::int64_t pod_grace_period(const json::object& pod, std::int64_t asked, bool is_asked);

/// Drops nulls, and empty labels, annotations, finalizers and ownerReferences, as decoding into a typed struct does.
void normalise(json::object& object);

}  // namespace kube::testing
