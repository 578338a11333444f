// The list of the controllers that work while a process leads.
// Tested by test/sim/peering_world.cpp.
#pragma once

#include <memory>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "controllers/links/provider_budget.hpp"
#include "controllers/links/provider_link.hpp"

namespace liqo::quota {
class QuotaLedger;
}

namespace liqo::controllers {

/// Makes one controller of each kind. `ledger` knows what pods hold of their Quotas, and is null if Quotas are not
/// enforced. Controllers refer to some of the last three, the names of home, the keys and the tenant namespaces;
/// ForeignClusterController refers only to the Replicator. No controller may run while they are destroyed. `budgets`
/// and the objects that `context` refers to outlive them.
std::vector<std::unique_ptr<Runnable>> make_controllers(Context context, const ConnectProvider& connect,
                                                        ProviderBudgets& budgets, quota::QuotaLedger* ledger);

}  // namespace liqo::controllers
