// Rules of the API server that concern pods alone.
#pragma once

#include "kube/testing/fake/kind.hpp"
#include "kube/testing/fake/status.hpp"

namespace kube::testing {

/// Fields that the server fills in when a pod is created.
void default_pod(json::object& pod);
/// "Guaranteed", "Burstable" or "BestEffort".
std::string_view qos_class(const json::object& pod);
/// Only images, activeDeadlineSeconds, terminationGracePeriodSeconds, additional tolerations and removed scheduling
/// gates may change.
Answer<> check_pod_spec_update(const FakeKind& kind, const json::object& before, const json::object& after);
/// Makes `after` the pod of before with the ephemeral containers that it names: more, and those of before as they were.
Answer<> add_ephemeral_containers(const FakeKind& kind, const json::object& before, json::object& after);
/// Makes `after` the pod of before with the resources that it names for its containers.
void keep_only_resources(const json::object& before, json::object& after);
/// qosClass is fixed, and containers do not come back from a final state against the restart policy.
Answer<> check_pod_status_update(const FakeKind& kind, const json::object& before, const json::object& after);

}  // namespace kube::testing
