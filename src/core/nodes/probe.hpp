// Judges an API server's answer to a probe, and what it means for the health of a provider.
#pragma once

#include <string>
#include <string_view>

#include "core/nodes/node.hpp"
#include "kube/base/failure.hpp"

namespace liqo::core {

/// What the answer to a GET of /livez says.
struct ProbeVerdict {
  bool is_alive = false;    ///< it answers, and knows us
  bool is_refused = false;  ///< it answers 401: it does not know us, and is of no use
  std::string error = {};   ///< why it is not alive; "" if it is
};

/// Judges the answer to a probe. `failure` is null if the server answered the probe. A server that knows us and forbids
/// the path (403) is alive. `credentials_trouble` says what is wrong with our credentials ("" = nothing shows), and is
/// added if the server does not know us.
ProbeVerdict judge_probe(const kube::Failure* failure, std::string_view credentials_trouble);

/// The health after that probe. Patience (`failure_threshold`) is for a provider that has answered before: one whose
/// first probe fails is not alive from the start.
ProviderHealth with_probe(ProviderHealth health, const ProbeVerdict& probe);

/// Whether the provider counts as alive: it has not failed too often in a row.
bool is_alive(const ProviderHealth& health);

/// Whether the provider has begun or ceased to be alive, or this is the first probe of it.
bool has_turned(const ProviderHealth& before, const ProviderHealth& after);

}  // namespace liqo::core
