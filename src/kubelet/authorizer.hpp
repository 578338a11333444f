// Who calls a port of this process, and whether they may: client certificates and TokenReviews, then
// SubjectAccessReviews, as kubelets do it (authentication and authorisation webhooks) on the sub-resources of nodes,
// and as controllers do it on the path of their metrics.
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
#include "kubelet/stranger_limit.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

/// A caller, as API servers know it.
struct Caller {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  kube::json::object extra;  ///< of a TokenReview, handed on to the SubjectAccessReview as it is
};

/// What a caller wants to do with a node.
struct NodeAccess {
  std::string_view verb;         ///< "get", "create", ...
  std::string_view subresource;  ///< "proxy", "stats", "metrics", "log", ...
  std::string node;              ///< "" = every node
  /// Asked for before it, where kubelets have a narrower name for the path ("pods", "healthz", "configz"): one of both
  /// is enough. "" = there is none.
  std::string_view narrower = {};
};

/// What a caller wants of a path that is no resource.
struct PathAccess {
  std::string_view verb;  ///< "get", ...
  std::string_view path;  ///< "/metrics"
};

/// How long answers of the API server are believed, how many of each kind are kept, and how many tokens that nobody
/// knows it is asked about.
struct AuthorizerSettings {
  kube::Duration allowed_for = std::chrono::seconds(10);
  kube::Duration denied_for = std::chrono::seconds(5);
  std::size_t max_entries = 1024;
  StrangerLimit::Settings strangers;
};

/// Asks the API server at home and keeps its answers for a short time.
/// Guarantees: tokens are kept as digests only; refusals push out nobody who was let in; one address may bring only so
/// many unknown tokens in a minute; requests with the same token at once are one question.
/// Failures: while the API server cannot be asked, nobody is let in.
/// Lifetime: one thread; outlives its coroutines.
class Authorizer {
 public:
  /// `limited` counts the tokens that were refused unseen.
  Authorizer(kube::Api& replica_api, kube::Counter limited, AuthorizerSettings settings = {});

  /// The caller by a verified client certificate, else by a bearer token. Refusals: 401, 429 (too many unknown tokens
  /// came from there), 503 (the API server cannot be asked).
  asio::awaitable<std::expected<Caller, Refusal>> authenticate(const kube::net::ServerRequest& request);
  /// Refusals: 403, in the words of the wider right, and 503.
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
    std::optional<Identified> answer;  ///< nothing though it is done: whoever asked was cancelled
  };
  /// Asks about a token, or has strangers wait; `key` is its digest.
  asio::awaitable<Identified> review(std::string token, std::string key, std::string address);
  /// `wanted` is what the caller asks for, in the words of a refusal.
  asio::awaitable<std::expected<void, Refusal>> ask(kube::json::object spec, std::string wanted);
  template <class Value>
  const Value* find(Cache<Value>& cache, const std::string& key);
  template <class Value>
  void forget(Cache<Value>& cache, const std::string& key);
  template <class Value>
  void remember(Cache<Value>& cache, const std::string& key, Value value, kube::Duration time);

  kube::Api& replica_api_;
  AuthorizerSettings settings_;
  StrangerLimit strangers_;
  kube::Counter limited_;
  Cache<Caller> callers_;  ///< by token; one that has run out still tells that the token was good
  Cache<Refusal> unknown_tokens_;
  std::map<std::string, std::shared_ptr<Review>> reviews_;  ///< by token
  Cache<bool> allowed_;
  Cache<Refusal> denied_;
};

}  // namespace liqo::kubelet
