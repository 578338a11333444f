// Serves the paths of the kubelet API about a node as a whole, and knows which nodes own a port.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "kube/net/http/http_server.hpp"
#include "kubelet/node_pods.hpp"
#include "kubelet/routes.hpp"
#include "kubelet/usage_api.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

/// The nodes that are served at a port.
class PortOwners {
 public:
  /// Makes a port that serves every node.
  PortOwners() = default;
  explicit PortOwners(std::set<std::string> nodes) : nodes_(std::move(nodes)) {}

  /// The only node of the port; "" = it has several nodes, or none.
  std::string only() const { return nodes_ && nodes_->size() == 1 ? *nodes_->begin() : std::string(); }
  /// Whether the node is served at the port, possibly among others.
  bool has(const std::string& node) const { return !nodes_ || nodes_->contains(node); }
  /// Whether the port has no node.
  bool is_empty() const { return nodes_ && nodes_->empty(); }
  /// The failure for a pod ("namespace/name") that runs on another node.
  std::unexpected<kube::Failure> refuse_pod(const std::string& pod) const;

 private:
  std::optional<std::set<std::string>> nodes_;
};

/// Serves endpoints that name no pod. One thread; outlives its coroutines.
class NodeApi {
 public:
  /// Makes every port serve every node.
  NodeApi() = default;
  /// `find_node`: the Node of that name, if it exists.
  NodeApi(std::function<std::set<std::string>(std::uint16_t)> nodes_at, PodsOfNode pods,
          std::function<std::optional<kube::Object>(const std::string&)> find_node, std::unique_ptr<UsageApi> usage)
      : nodes_at_(std::move(nodes_at)),
        pods_(std::move(pods)),
        find_node_(std::move(find_node)),
        usage_(std::move(usage)) {}

  /// The nodes that are served at that port of this process.
  PortOwners owners_of(std::uint16_t port) const { return nodes_at_ ? PortOwners(nodes_at_(port)) : PortOwners(); }
  /// Serves a request. Refusals: 404 (no node has the port), 501 (several nodes share it, or the path is not served),
  /// 502 (the provider is unreachable), 503.
  asio::awaitable<std::expected<void, Refusal>> serve(const Route& route, const PortOwners& owners,
                                                      kube::net::ServerResponse& response) const;

 private:
  asio::awaitable<std::expected<void, Refusal>> serve_pods(const std::string& node, bool running_only,
                                                           kube::net::ServerResponse& response) const;

  std::function<std::set<std::string>(std::uint16_t)> nodes_at_;
  PodsOfNode pods_;
  std::function<std::optional<kube::Object>(const std::string&)> find_node_;
  std::unique_ptr<UsageApi> usage_;
};

/// The entry of a pod in GET /runningpods/, as kubelets have it: its names and UID, and the names and images of its
/// running containers. Nothing if no container runs.
std::optional<kube::json::object> running_pod(const kube::Object& pod);

}  // namespace liqo::kubelet
