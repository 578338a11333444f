// What a provider has decided about a consumer stands on its Tenant, which the consumer's peering user may delete and
// make anew. So it is kept on the tenant namespace, where no consumer can write.
#pragma once

#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// On a tenant namespace: the decisions that the last Tenant there bore. Ours alone; taking it away forgets them.
inline constexpr std::string_view decisions_annotation = "liqo.io/tenant-decisions";

/// The condition and the annotations of Liqo of a Tenant, as text; "" where there is nothing but what every new Tenant
/// has.
std::string remember_decisions(const kube::Object& tenant);

/// Sets on `tenant` what `text` says, which is of `remember_decisions`; what is not of that form is passed over. The
/// rest of the Tenant stays.
void recall_decisions(std::string_view text, kube::Object& tenant);

}  // namespace liqo::core
