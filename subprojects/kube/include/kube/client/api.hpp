// The verbs of a Kubernetes API server as coroutines that return values.
// Tested by test/client/api_requests_test.cpp and test/client/api_list_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "kube/async/clock.hpp"
#include "kube/base/memory_account.hpp"
#include "kube/base/random.hpp"
#include "kube/client/server_clock.hpp"
#include "kube/k8s/request.hpp"
#include "kube/net/transport.hpp"
#include "kube/telemetry/metrics.hpp"
#include "kube/wire/list_decoder.hpp"
#include "kube/wire/watch_decoder.hpp"

namespace kube {

namespace asio = boost::asio;

/// The most bytes of a page that is returned as a whole, and of one that is taken object by object.
inline constexpr std::size_t max_page_bytes = 32u << 20, max_list_bytes = 256u << 20;

/// How one Api behaves.
struct ApiSettings {
  std::string cluster;                          ///< the name that failures, logs and metrics give this server
  Duration timeout = std::chrono::seconds(30);  ///< for one verb, retries included; a watch has this for its head only
  int max_attempts = 4;                         ///< sendings of a request that the server put off (429, 503)
  /// The fence: asked right before each sending of any method but GET, so also of a review's POST, and again if the
  /// transport repeats the request. If it returns false, the verb fails with Errc::stopped. Null = none.
  std::function<bool()> may_write = nullptr;
  /// Asks for lists as gzip, which servers apply to large pages, and from Kubernetes 1.37 on to streamed lists: for
  /// servers that are not near.
  bool packed_lists = false;
  /// The account on which all that is read from this server is drawn, for as long as it is in use. Null = that of the
  /// process alone.
  std::shared_ptr<MemoryAccount> account = nullptr;
};

/// The open body of a watch: events in order, until the server ends it.
class WatchStream {
 public:
  explicit WatchStream(std::unique_ptr<net::Body> body, std::shared_ptr<MemoryAccount> account = nullptr)
      : body_(std::move(body)), decoder_(max_object_bytes, std::move(account)) {}
  /// The next event; an empty optional is the end that every watch has. Errors: closed,
  /// protocol, parse, too_large. Cancellable.
  asio::awaitable<Result<std::optional<wire::WatchEvent>>> next();
  /// An event that has already arrived, without waiting.
  Result<std::optional<wire::WatchEvent>> buffered() { return decoder_.next(); }

 private:
  std::unique_ptr<net::Body> body_;
  wire::WatchDecoder decoder_;
};

/// One API server. One thread.
///
/// Guarantees: every verb carries the deadline of the settings, and waits as 429 and 503 ask (Retry-After). What the
/// arguments refer to is read at the call, not when the answer is awaited.
///
/// Failures: any answer other than 2xx is a Failure with the server's Status and the words `VERB PATH in CLUSTER`,
/// where PATH is that of the request, without its query. Others are those of the Transport (timeout, connect, tls,
/// closed, protocol, too_large), and stopped if `may_write` forbids the verb. A document that cannot be read is parse.
/// One that is longer than max_object_bytes, or takes more memory than the account has left, is too_large. Cancellation
/// (terminal) throws operation_aborted.
///
/// Lifetime: transport, clock, random and metrics outlive it.
class Api {
 public:
  Api(net::Transport& transport, async::Clock& clock, Random& random, Metrics& metrics, ApiSettings settings);

  /// The object, or a subresource of it.
  asio::awaitable<Result<Object>> get(const Resource& resource, const ObjectKey& key,
                                      std::string_view subresource = {});
  /// One page, whole, for lists that are short. The deadline moves on as long as bytes come. An answer of more than
  /// `max_bytes` is refused (Errc::too_large).
  asio::awaitable<Result<wire::ListPage>> list(const Resource& resource, std::string_view ns,
                                               const ListOptions& options, std::size_t max_bytes = max_page_bytes);
  /// One page of at most max_list_bytes: gives each object to `take` as soon as it has arrived, so that a page is never
  /// held as a whole. The deadline moves on as long as bytes come. `take` must not suspend; if it returns false, no
  /// more is read, and what is returned is empty. If this fails, `take` may have had a part of the page.
  asio::awaitable<Result<wire::ListMeta>> list_each(const Resource& resource, std::string_view ns,
                                                    const ListOptions& options,
                                                    std::function<bool(wire::ListItem)> take);
  /// Opens a watch; `ns` empty: of all namespaces. The answer's head must come within ApiSettings::timeout, the events
  /// have no deadline but that of the options, which the server keeps.
  asio::awaitable<Result<WatchStream>> watch(const Resource& resource, std::string_view ns,
                                             const WatchOptions& options);
  /// Creates an object, and returns what the server has stored.
  asio::awaitable<Result<Object>> create(const Resource& resource, const Object& object,
                                         const WriteOptions& options = {});
  /// Writes the whole object. With a resourceVersion it applies to that state alone (409 otherwise).
  asio::awaitable<Result<Object>> replace(const Resource& resource, const Object& object,
                                          const WriteOptions& options = {});
  /// Changes a part of an object, and returns the whole of it.
  asio::awaitable<Result<Object>> patch(const Resource& resource, const ObjectKey& key, Patch patch,
                                        const WriteOptions& options = {});
  /// Server-side apply of the object's tree under the field manager, taking over conflicting fields.
  asio::awaitable<Result<Object>> apply(const Resource& resource, const Object& object, std::string_view field_manager,
                                        std::string_view subresource = {});
  /// Asks the server to delete an object, which may stay until its finalizers are gone and its grace period is over.
  asio::awaitable<Result<void>> remove(const Resource& resource, const ObjectKey& key,
                                       const DeleteOptions& options = {});
  /// Asks the server to delete all objects of a namespace that the selection matches. They may stay until their
  /// finalizers are gone and their grace periods are over.
  asio::awaitable<Result<void>> remove_collection(const Resource& resource, std::string_view ns,
                                                  const Selection& selection, const DeleteOptions& options = {});
  /// POST to a subresource (eviction, token, binding); returns the server's document. If `subresource` is "", it goes
  /// to the collection of a review in the namespace of the body's metadata, and `key` is not looked at.
  asio::awaitable<Result<json::value>> post(const Resource& resource, const ObjectKey& key,
                                            std::string_view subresource, json::object body);
  /// The document or text at any path, e.g. "/version", "/readyz". It is drawn on no account.
  asio::awaitable<Result<std::string>> raw(std::string path, Duration timeout);

  /// How far the server's clock is ahead of ours, by the Date of its answers (`ServerClock`).
  std::optional<std::chrono::seconds> clock_ahead() const { return server_clock_.ahead(); }

  const std::string& cluster() const { return settings_.cluster; }
  /// The account on which all that is read from this server is drawn.
  const std::shared_ptr<MemoryAccount>& account() const { return settings_.account; }
  net::Transport& transport() { return transport_; }
  async::Clock& clock() { return clock_; }
  Random& random() { return random_; }

 private:
  /// The body of an answer, as long as it is in use.
  struct Text {
    std::string text;
    MemoryHold hold;
  };
  static asio::awaitable<Result<Text>> read_all(net::Body& body, std::shared_ptr<MemoryAccount> account);
  /// Sends until an answer is final; returns a 2xx response.
  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline deadline);
  /// Sends until an answer is final, and reads the body of a 2xx response to its end.
  asio::awaitable<Result<Text>> exchange(HttpRequest request, Deadline deadline);
  asio::awaitable<Result<Object>> exchange_object(HttpRequest request);
  asio::awaitable<Result<std::string>> exchange_text(HttpRequest request, Deadline deadline);
  asio::awaitable<Result<void>> exchange_nothing(HttpRequest request);
  asio::awaitable<Result<json::value>> exchange_document(HttpRequest request);
  asio::awaitable<Result<wire::ListMeta>> exchange_list(HttpRequest request, std::size_t max_bytes,
                                                        std::function<bool(wire::ListItem)> take);
  asio::awaitable<Result<wire::ListPage>> exchange_page(HttpRequest request, std::size_t max_bytes);
  asio::awaitable<Result<WatchStream>> open_watch(HttpRequest request);
  void count(const HttpRequest& request, int code);
  void look_at_clock(const net::ResponseHead& head, WallTime sent);

  net::Transport& transport_;
  async::Clock& clock_;
  Random& random_;
  Metrics& metrics_;
  ApiSettings settings_;
  ServerClock server_clock_;
  std::map<std::pair<std::string, int>, Counter> requests_;
  Gauge clock_ahead_;  ///< once it is known
};

}  // namespace kube
