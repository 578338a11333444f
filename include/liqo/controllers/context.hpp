// What every controller of a process shares.
#pragma once

#include "kube/async/clock.hpp"
#include "kube/base/random.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/leadership.hpp"
#include "kube/telemetry/metrics.hpp"
#include "liqo/controllers/settings.hpp"
#include "liqo/core/authentication/keys.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// References to what outlives every controller. `home` is the cluster that this process serves; its Api writes only
/// while this process leads.
struct Context {
  kube::InformerSet& home;
  kube::EventRecorder& events;  ///< of the home cluster
  kube::Leadership& leadership;
  kube::async::Clock& clock;
  kube::Random& random;
  kube::Metrics& metrics;
  const Settings& settings;
  core::Entropy entropy;  ///< for keys and nonces
};

}  // namespace liqo::controllers
