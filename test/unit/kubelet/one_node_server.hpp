// The kubelet API of one virtual node whose pods a fake of their provider runs, with an API server that grants
// everything.
#pragma once

#include <memory>
#include <string>

#include "fakes.hpp"
#include "kubelet/kubelet_server.hpp"
#include "server_tls.hpp"

namespace liqo::test {

/// `Link` is the provider, to which requests and upgrades go. It exists before the first request.
template <class Link>
struct OneNodeServer {
  FakeHome home{
      [](const kube::HttpRequest&) { return FakeAnswer{.status = 201, .pieces = {R"({"status":{"allowed":true}})"}}; }};
  kubelet::Authorizer authorizer{home.api, kube::Counter()};
  std::shared_ptr<Link> link;
  std::function<std::shared_ptr<Link>(const std::string& pod)> find;  // set if each pod has a link of its own
  kubelet::KubeletServer server{home.environment,
                                authorizer,
                                [this](const std::string&, const std::string& pod) -> kube::Result<kubelet::PodRoute> {
                                  const auto way = find ? find(pod) : link;
                                  return kubelet::PodRoute{.transport = way,
                                                           .upgrader = way,
                                                           .remote_namespace = "t",
                                                           .remote_pod = "web",
                                                           .provider = "milan",
                                                           .node = "node"};
                                },
                                make_tls(),
                                {.address = "127.0.0.1", .port = 0}};
};

}  // namespace liqo::test
