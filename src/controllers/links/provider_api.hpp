// The Api for a provider, and its settings.
// Tested by test/unit/controllers/sessions/provider_sessions_test.cpp.
#pragma once

#include <string>
#include <utility>

#include "controllers/common/context.hpp"
#include "kube/client/api.hpp"

namespace liqo::controllers {

/// The settings of an Api for the provider `cluster`: it writes only while this process leads, asks for large lists
/// compressed, because providers may be far away, and charges what it reads to the provider's account. What `context`
/// refers to outlives the Api.
inline kube::ApiSettings provider_api_settings(std::string cluster, const Context& context) {
  auto account = context.accounts.of(cluster);
  return {.cluster = std::move(cluster),
          .may_write = [&lead = context.leadership] { return lead.may_write(); },
          .packed_lists = true,
          .account = std::move(account)};
}

/// An Api for the provider `cluster` with these settings. `transport` outlives it, too.
inline kube::Api make_provider_api(kube::net::Transport& transport, std::string cluster, const Context& context) {
  return {transport, context.clock, context.random, context.metrics,
          provider_api_settings(std::move(cluster), context)};
}

}  // namespace liqo::controllers
