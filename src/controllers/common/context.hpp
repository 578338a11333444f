// The environment that all controllers of a process share.
#pragma once

#include "controllers/common/provider_accounts.hpp"
#include "controllers/common/settings.hpp"
#include "core/peering/keys.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/leadership.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// Passed to every controller; the referenced objects outlive the controllers. `home` is the cluster that this process
/// serves; its Api writes only while this process leads.
struct Context : kube::Environment {
  kube::InformerSet& home;
  kube::EventRecorder& events;  ///< of the home cluster
  kube::Leadership& leadership;
  const Settings& settings;
  core::Entropy entropy;  ///< for keys and nonces
  ProviderAccounts& accounts;
};

}  // namespace liqo::controllers
