// Counts the pods of each namespace: pod_counter
#include "pod_counter.hpp"

#include "connect.hpp"

namespace {

boost::asio::awaitable<kube::Result<void>> count_pods(example::Cluster cluster) {
  kube::Manager manager(cluster.environment, cluster.client, {.cluster = cluster.name, .source = {}});
  const example::PodCounter counter(manager);
  co_await manager.run();
  co_return kube::Result<void>();
}

}  // namespace

int main() { return example::run("pod_counter", count_pods); }
