// Authenticates and authorises the callers of a port of this process: by client certificates and TokenReviews, and then
// by SubjectAccessReviews. Kubelets do the same (authentication and authorisation webhooks) for the sub-resources of
// nodes, and controllers for the path of their metrics.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <expected>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/async/event.hpp"
#include "kube/client/api.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/telemetry/metrics.hpp"
#include "kubelet/routes.hpp"
#include "kubelet/unknown_caller_limit.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

/// A caller, as API servers know it.
struct Caller {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  kube::json::object extra;  ///< of a TokenReview, passed on to the SubjectAccessReview unchanged
};

/// What a caller wants to do with a node.
struct NodeAccess {
  std::string_view verb;         ///< "get", "create", ...
  std::string_view subresource;  ///< "proxy", "stats", "metrics", "log", ...
  std::string node;              ///< "" = every node
  /// A narrower sub-resource that kubelets have for the path ("pods", "healthz", "configz"), which is checked first:
  /// either right is enough. "" = there is none.
  std::string_view narrower = {};
};

/// What a caller wants to do with a path that is not a resource.
struct PathAccess {
  std::string_view verb;  ///< "get", ...
  std::string_view path;  ///< "/metrics"
};

/// How long answers of the API server are cached, how many of each kind are kept, and how many unknown tokens it is
/// asked about.
struct AuthorizerSettings {
  kube::Duration allowed_for = std::chrono::seconds(10);
  kube::Duration denied_for = std::chrono::seconds(5);
  std::size_t max_entries = 1024;
  UnknownCallerLimit::Settings unknown_callers;
};

/// Asks the API server at home, and caches its answers for a short time.
///
/// Guarantees: tokens are stored only as digests. Refusals never evict callers who were admitted. Each address may
/// bring only so many unknown tokens in a minute. Concurrent requests with the same token share one review.
///
/// Failures: while the API server cannot be reached, no caller is admitted.
///
/// Lifetime: one thread; outlives its coroutines.
class Authorizer {
 public:
  /// `limited` counts the tokens that were refused without a review.
  Authorizer(kube::Api& replica_api, kube::Counter limited, AuthorizerSettings settings = {});

  /// Identifies the caller by a verified client certificate, or else by a bearer token. Refusals: 401, 429 (too many
  /// unknown tokens from that address), 503 (the API server cannot be reached).
  asio::awaitable<std::expected<Caller, Refusal>> authenticate(const kube::net::ServerRequest& request);
  /// Checks the caller's right. Refusals: 403, which names the wider right, and 503.
  asio::awaitable<std::expected<void, Refusal>> authorize(const Caller& caller, NodeAccess access);
  asio::awaitable<std::expected<void, Refusal>> authorize(const Caller& caller, PathAccess access);

 private:
  /// Answers by key, the oldest first in `order`.
  template <class Value>
  struct Cache {
    struct Entry {
      Value value;
      kube::TimePoint until;
      std::list<std::string>::iterator place;
    };
    std::map<std::string, Entry> entries;
    std::list<std::string> order;
  };
  using Identified = std::expected<Caller, Refusal>;
  /// A token that the API server is being asked about.
  struct Review {
    explicit Review(const asio::any_io_executor& executor) : done(executor) {}
    kube::async::Event done;
    std::optional<Identified> answer;  ///< nothing although it is done: the caller that did the review was cancelled
  };
  /// Has a token reviewed, within the limit for unknown callers; `key` is its digest.
  asio::awaitable<Identified> review(std::string token, std::string key, std::string address);
  /// Sends a SubjectAccessReview. `wanted`: the requested right, as a refusal names it.
  asio::awaitable<std::expected<void, Refusal>> ask(kube::json::object spec, std::string wanted);
  template <class Value>
  const Value* find(Cache<Value>& cache, const std::string& key);
  template <class Value>
  void forget(Cache<Value>& cache, const std::string& key);
  template <class Value>
  void remember(Cache<Value>& cache, const std::string& key, Value value, kube::Duration time);

  kube::Api& replica_api_;
  AuthorizerSettings settings_;
  UnknownCallerLimit unknown_callers_;
  kube::Counter limited_;
  Cache<Caller> callers_;  ///< by token; an expired entry still shows that the token was good
  Cache<Refusal> unknown_tokens_;
  std::map<std::string, std::shared_ptr<Review>> reviews_;  ///< by token
  Cache<bool> allowed_;
  Cache<Refusal> denied_;
};

}  // namespace liqo::kubelet
