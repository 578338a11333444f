// What the kubelet API says of a node as a whole, and whose a port is.
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

/// The nodes that are asked at a port.
class PortOwners {
 public:
  /// Every node.
  PortOwners() = default;
  explicit PortOwners(std::set<std::string> nodes) : nodes_(std::move(nodes)) {}

  /// The node whose own port it is; "" = several nodes have it, or none.
  std::string only() const { return nodes_ && nodes_->size() == 1 ? *nodes_->begin() : std::string(); }
  /// Whether the node is asked at the port, perhaps among others.
  bool has(const std::string& node) const { return !nodes_ || nodes_->contains(node); }
  /// Whether the port is that of no node.
  bool is_nobodys() const { return nodes_ && nodes_->empty(); }
  /// Of a pod ("namespace/name") that runs on another node.
  std::unexpected<kube::Failure> refuse_pod(const std::string& pod) const;

 private:
  std::optional<std::set<std::string>> nodes_;
};

/// Answers what names no pod. One thread; outlives its coroutines.
class NodeApi {
 public:
  /// For a server whose every port is that of every node.
  NodeApi() = default;
  /// `find_node`: the Node of that name, if it is there.
  NodeApi(std::function<std::set<std::string>(std::uint16_t)> nodes_at, PodsOfNode pods,
          std::function<std::optional<kube::Object>(const std::string&)> find_node, std::unique_ptr<UsageApi> figures)
      : nodes_at_(std::move(nodes_at)),
        pods_(std::move(pods)),
        find_node_(std::move(find_node)),
        figures_(std::move(figures)) {}

  /// The nodes that are asked at that port of this process.
  PortOwners owners_of(std::uint16_t port) const { return nodes_at_ ? PortOwners(nodes_at_(port)) : PortOwners(); }
  /// Answers, or refuses: 404 (the port is nobody's), 501 (it is that of several nodes, or the path is not served),
  /// 502 (the provider is out of reach), 503.
  asio::awaitable<std::expected<void, Refusal>> serve(const Route& route, const PortOwners& owners,
                                                      kube::net::ServerResponse& response) const;

 private:
  asio::awaitable<std::expected<void, Refusal>> serve_pods(const std::string& node, bool running_only,
                                                           kube::net::ServerResponse& response) const;

  std::function<std::set<std::string>(std::uint16_t)> nodes_at_;
  PodsOfNode pods_;
  std::function<std::optional<kube::Object>(const std::string&)> find_node_;
  std::unique_ptr<UsageApi> figures_;
};

/// The entry of a pod in GET /runningpods/: its names and UID, and the names and images of the containers that run, as
/// kubelets have it. Nothing where none runs.
std::optional<kube::json::object> running_pod(const kube::Object& pod);

}  // namespace liqo::kubelet
