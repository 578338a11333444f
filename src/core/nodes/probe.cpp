#include "core/nodes/probe.hpp"

namespace liqo::core {

ProbeVerdict judge_probe(const kube::Failure* failure, std::string_view credentials_trouble) {
  if (!failure || failure->is_forbidden()) return {.is_alive = true};
  ProbeVerdict verdict{.is_refused = failure->http_code() == 401, .error = failure->text()};
  if (verdict.is_refused && !credentials_trouble.empty()) verdict.error.append("; ").append(credentials_trouble);
  return verdict;
}

ProviderHealth with_probe(ProviderHealth health, const ProbeVerdict& probe) {
  if (probe.is_alive)
    health.failed_probes = 0;
  else
    health.failed_probes = health.probed ? health.failed_probes + 1 : health.failure_threshold;
  health.last_error = probe.error;
  health.probed = true;
  return health;
}

bool is_alive(const ProviderHealth& health) { return health.failed_probes < health.failure_threshold; }

bool has_turned(const ProviderHealth& before, const ProviderHealth& after) {
  return !before.probed || is_alive(before) != is_alive(after);
}

}  // namespace liqo::core
