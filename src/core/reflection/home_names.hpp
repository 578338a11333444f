// Names of Services by the DNS of the cluster, as a Service of the type ExternalName leads to another one.
// Tested by test/unit/core/reflection/home_names_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// The namespace in a name of the cluster's DNS: "shop" of "db.shop.svc" and "pg-0.db.shop.svc.cluster.local". Names
/// below another domain of a cluster are not recognised, because they may be names of the Internet. "" = it is no such
/// name.
std::string_view namespace_in_name(std::string_view name);

/// The namespace to which a Service of the type ExternalName leads, if that is another one of this cluster; "" = to
/// none. The name of the API server leads to none.
std::string_view leads_to(const kube::Object& service);

/// The `externalName` of the copy of a Service: a name of this cluster gets the twin of its namespace, which is the
/// only one of that name at the provider. That of the API server stays. "" if the Service has none.
std::string external_name_there(const kube::Object& service, std::string_view remote_namespace,
                                const core::ForgingContext& ctx);

/// The sentence about a Service that leads to a namespace of this cluster which has no twin, or to its API server; "" =
/// it does not.
std::string describe_lost_name(const kube::Object& service, const core::ForgingContext& ctx);

}  // namespace liqo::core::reflection
