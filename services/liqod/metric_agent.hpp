// What the metric agent needs of the process.
#pragma once

#include <memory>

#include "controllers/offloading/consumer_pods.hpp"
#include "controllers/process/process.hpp"
#include "kube/wire/kubeconfig.hpp"
#include "options/options.hpp"
#include "usage/metric_agent.hpp"

namespace liqod {

/// The agent, and whose pods it tells about.
struct MetricAgent {
  std::unique_ptr<liqo::controllers::ConsumerPods> pods;
  std::unique_ptr<liqo::usage::MetricAgent> agent;
};

/// Empty where the operator has switched it off. What is passed in outlives it. Of `home` it takes the CA, by which
/// kubelets are known where the options name no other.
MetricAgent make_metric_agent(liqo::controllers::Process& process, const kube::wire::ClusterConfig& home,
                              const Options& options);

}  // namespace liqod
