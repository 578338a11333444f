// Keeps Widgets (widgets.yaml): widget_controller NAMESPACE [IDENTITY]
// With an identity, of several processes the holder of the lease "widget-controller" in that namespace does the work.
#include "widget_controller.hpp"

#include <iostream>

#include "connect.hpp"

namespace {

boost::asio::awaitable<kube::Result<void>> keep_widgets(example::Cluster cluster, std::string ns,
                                                        std::string identity) {
  kube::ManagerSettings settings{.cluster = cluster.name, .source = [](const kube::Resource&, std::string_view) {
                                   return std::string("widget-controller");
                                 }};
  if (!identity.empty())
    settings.election =
        kube::LeaderElectionSettings{.lease = {std::move(ns), "widget-controller"}, .identity = std::move(identity)};
  kube::Manager manager(cluster.environment, cluster.client, std::move(settings));
  const example::WidgetController controller(manager);
  co_await manager.run();
  co_return kube::Result<void>();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "widget_controller NAMESPACE [IDENTITY]\n";
    return 2;
  }
  return example::run("widget_controller",
                      [ns = std::string(argv[1]), identity = std::string(argc > 2 ? argv[2] : "")](
                          example::Cluster cluster) { return keep_widgets(cluster, ns, identity); });
}
