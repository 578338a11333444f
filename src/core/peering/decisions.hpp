// A provider's decisions about a consumer are on its Tenant, which the consumer's peering user may delete and create
// again. A copy is kept on the tenant namespace, where no consumer can write.
#pragma once

#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The Tenant's condition and its annotations of Liqo as text; "" if they are those of every new Tenant.
std::string remember_decisions(const kube::Object& tenant);

/// Sets on `tenant` the decisions in `text`, which `remember_decisions` made; what has another form is ignored. The
/// rest of the Tenant stays.
void recall_decisions(std::string_view text, kube::Object& tenant);

}  // namespace liqo::core
