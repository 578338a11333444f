// Who Events are from.
#include "core/offloading/event_source.hpp"

#include <doctest/doctest.h>

#include "kube/k8s/resource.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::core {

TEST_CASE("what reflection tells is from the reflector of the kind, as with the Go version, and all else from liqod") {
  using namespace kube;
  CHECK(event_source(resources::pods, "OffloadingRefused") == "liqo-pod-reflection");
  CHECK(event_source(resources::pods, "FailedSATokensReflection") == "liqo-serviceaccount-reflection");
  CHECK(event_source(resources::config_maps, "FailedReflection") == "liqo-configmap-reflection");
  CHECK(event_source(resources::services, "ReflectionDisabled") == "liqo-service-reflection");
  CHECK(event_source(api::kinds::endpoint_slices, "AddressLeftOut") == "liqo-endpointslice-reflection");
  CHECK(event_source(api::kinds::claims, "RemoteWarning") == "liqo-persistentvolumeclaim-reflection");
  // A Secret is also what credentials are in, and a ConfigMap what the policy of sharing is in.
  CHECK(event_source(resources::secrets, "CredentialsUnusable") == "liqod");
  CHECK(event_source(resources::config_maps, "SettingNotTaken") == "liqod");
  CHECK(event_source(api::kinds::tenants, "TenantSilent") == "liqod");
  CHECK(event_source({"metrics.example.org", "v1", "pods", "PodMetrics"}, "Other") == "liqod");
}

}  // namespace liqo::core
