// The metric agent, assembled from the parts of the process.
#pragma once

#include <memory>

#include "controllers/offloading/consumer_pods.hpp"
#include "controllers/process/process.hpp"
#include "kube/wire/kubeconfig.hpp"
#include "options/options.hpp"
#include "usage/metric_agent.hpp"

namespace liqod {

/// The agent, and the pods whose usage it serves.
struct MetricAgent {
  std::unique_ptr<liqo::controllers::ConsumerPods> pods;
  std::unique_ptr<liqo::usage::MetricAgent> agent;
};

/// Empty if the operator has switched it off. The arguments outlive it. It checks kubelets' certificates against the CA
/// of `home` unless the options name another one.
MetricAgent make_metric_agent(liqo::controllers::Process& process, const kube::wire::ClusterConfig& home,
                              const Options& options);

}  // namespace liqod
