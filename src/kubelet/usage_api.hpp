// Serves the paths of the kubelet API with the resource usage of a virtual node and its pods. The provider reports it
// for the pods of that node alone.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/usage/node_usage.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/runtime/environment.hpp"
#include "kubelet/node_pods.hpp"
#include "kubelet/routes.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

/// The provider of a node's usage. It shares the connection, because the session may be replaced.
struct UsageSource {
  std::shared_ptr<kube::net::Transport> transport;  ///< to the provider's API server
  std::shared_ptr<kube::net::Upgrader> upgrader;    ///< to check whether it can be reached; null: not checked
  std::string provider;                             ///< the name of the provider in messages
  std::string consumer;                             ///< this cluster's ID
};
/// Finds the source for a node. Failures: one sentence, answered with 503.
using UsageSourceOf = std::function<kube::Result<UsageSource>(const std::string& node)>;

/// A request for usage.
struct UsageQuestion {
  Endpoint endpoint;
  std::string node;
  std::string started = {};  ///< when the node was created, RFC 3339; "" = not known
};

/// The bounds of one request for usage, and of a provider's answer.
struct UsageSettings {
  kube::Duration head_timeout = std::chrono::seconds(15);  ///< until the provider begins to answer
  kube::Duration timeout = std::chrono::seconds(30);       ///< until all is read, and the caller has taken it
  std::size_t max_read = 64U << 20;                        ///< bytes of one answer of a provider
  int max_asked = 8;                                       ///< requests under way for one node
  /// The most series of one answer that are passed on: an average for each pod of the node, and a constant. Kubelets
  /// have some hundred series for a pod; a provider that invents more would fill the memory of the scraper of its node.
  std::size_t series_per_pod = 1'000, more_series = 4'000;
};

/// Asks the provider at each request, and only then. For each node it remembers the values that keep its counters from
/// falling; they are bounded by its pods, and go with the node. One thread; outlives its coroutines.
class UsageApi {
 public:
  /// `nodes`: the nodes that exist.
  UsageApi(const kube::Environment& environment, UsageSourceOf source, PodsOfNode pods,
           std::function<std::vector<std::string>()> nodes, UsageSettings settings = {});

  /// Serves a request. Refusals: 502 (the provider is unreachable), 503. If the provider answers without any usage,
  /// only /stats/summary is refused.
  asio::awaitable<std::expected<void, Refusal>> serve(UsageQuestion question, kube::net::ServerResponse& response);

 private:
  struct Node {
    core::NodeUsage usage;
    int asked = 0;  ///< requests under way
  };
  class Asking;
  class ProviderText;
  /// The answer of a provider: its text, or why there is none.
  struct Reply {
    std::unique_ptr<kube::net::Body> body;  ///< null: the provider answers, but without any usage
    std::string sentence;                   ///< the reason, if `body` is null
  };

  asio::awaitable<std::expected<void, Refusal>> answer(const UsageQuestion& question, const UsageSource& source,
                                                       kube::net::ServerResponse& response);
  asio::awaitable<std::expected<Reply, Refusal>> ask(const UsageSource& source, std::string_view path);
  static asio::awaitable<std::expected<void, Refusal>> read(ProviderText& text, core::PodUsageReader& reader,
                                                            kube::net::ServerResponse& response);
  asio::awaitable<std::expected<void, Refusal>> relay(ProviderText& from, const std::string& provider,
                                                      const CachedPods& pods,
                                                      kube::net::ServerResponse& response) const;
  asio::awaitable<std::expected<void, Refusal>> send_usage(const UsageQuestion& question,
                                                           const core::UsageByPod& by_pod, const CachedPods& pods,
                                                           kube::net::ServerResponse& response);
  void forget_gone();

  kube::async::Clock& clock_;
  UsageSourceOf source_;
  PodsOfNode pods_;
  std::function<std::vector<std::string>()> names_;
  UsageSettings settings_;
  std::map<std::string, Node> nodes_;
  kube::Counter served_, refused_, cut_;
  kube::Gauge remembered_;
};

}  // namespace liqo::kubelet
