// The dependencies of the quota ledger, its display and its metrics.
#pragma once

#include <string>

#include "kube/runtime/environment.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/leadership.hpp"

namespace liqo::quota {

namespace asio = boost::asio;

/// The referenced objects outlive them. `home` is the cluster whose Quotas are kept; its Api writes only while this
/// process leads.
struct LedgerContext : kube::Environment {
  kube::InformerSet& home;
  kube::EventRecorder& events;  ///< of that cluster
  kube::Leadership& leadership;
  std::string liqo_namespace = "liqo";  ///< where the records of reservations are
};

}  // namespace liqo::quota
