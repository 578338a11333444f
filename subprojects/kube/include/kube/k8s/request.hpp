// Verbs as pure functions: from what is wanted to method, path, query, headers and body. Nothing is sent here.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/k8s/object.hpp"

namespace kube {

/// Headers in the order of the wire, by names in lower case. A name with several values appears several times.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// The first value of that name, compared without regard to ASCII case; "" if there is none.
std::string_view find_header(const HttpHeaders& headers, std::string_view name);

/// One HTTP request, independent of the protocol version that carries it.
struct HttpRequest {
  std::string method = "GET";
  std::string target;   ///< path and query, percent-encoded
  HttpHeaders headers;  ///< no hop-by-hop headers
  std::string body;
  /// The verb of Kubernetes for metrics ("get", "list", "watch", "create", ...) and the resource's plural.
  std::string_view verb;
  std::string_view resource;
  /// True if sending it a second time does no harm: after a broken connection it may be repeated.
  bool repeatable = false;
  /// True if the answer goes on until one side ends it: a watch, a log that is followed.
  bool open_ended = false;
  /// Asked right before each sending, repeats included: false = it is not sent, and fails with Errc::stopped. None = it
  /// may always be sent.
  std::function<bool()> may_send = nullptr;
};

/// What a list or a watch selects.
struct Selection {
  std::string label_selector;  ///< e.g. "liqo.io/shadowPod=true"
  std::string field_selector;  ///< e.g. "spec.nodeName=milan"
  bool operator==(const Selection&) const = default;
};

/// Selectors of the objects whose label has that value, and of those whose label has another value or which have none.
/// Join them with a comma for objects that meet both.
std::string label_is(std::string_view key, std::string_view value = "true");
std::string label_is_not(std::string_view key, std::string_view value);
/// The field selector of the objects with that name.
std::string name_is(std::string_view name);

/// What a list is to hold, and how it comes.
struct ListOptions {
  Selection selection;
  std::int64_t limit = 0;        ///< page size; 0 = everything at once
  std::string continue_token;    ///< of the page before
  std::string resource_version;  ///< "" = consistent read, "0" = any version of the server's cache
  bool metadata_only = false;    ///< objects come with their metadata alone (PartialObjectMetadata)
};

/// Which events a watch is to send, and from which version on.
struct WatchOptions {
  Selection selection;
  std::string resource_version;       ///< where to start; "" together with send_initial_events
  std::chrono::seconds timeout{300};  ///< the server ends the watch after this time
  bool bookmarks = true;              ///< the server sends now and then how far the watch has come
  bool send_initial_events = false;   ///< KEP-3157: the list arrives as events, ended by an annotated bookmark
  bool metadata_only = false;         ///< objects come with their metadata alone (PartialObjectMetadata)
};

/// How a write is to be done.
struct WriteOptions {
  std::string_view field_manager;  ///< "" = the server derives it from the user agent
  bool dry_run = false;
  std::string_view subresource;  ///< "" or e.g. "status"
};

/// How the body of a patch is to be read: RFC 6902, RFC 7386, by the merge keys of built-in kinds, or as server-side
/// apply.
enum class PatchType { json, merge, strategic_merge, apply };

/// What a patch changes.
struct Patch {
  PatchType type = PatchType::merge;
  std::string body;
  bool force = false;  ///< take over fields of other managers; of server-side apply only
};

/// What becomes of an object's dependents: the default of its kind, deletion after it, deletion before it, or they lose
/// this owner and stay.
enum class Propagation { server_default, background, foreground, orphan };

/// Options of a delete. The server answers 409 if a precondition does not hold.
struct DeleteOptions {
  std::string uid;               ///< precondition, "" = none
  std::string resource_version;  ///< precondition, "" = none
  std::optional<std::int64_t> grace_period_seconds;
  Propagation propagation = Propagation::server_default;
  bool dry_run = false;
};

namespace request {

HttpRequest get(const Resource& resource, const ObjectKey& key, std::string_view subresource = {});
/// `ns` empty: all namespaces.
HttpRequest list(const Resource& resource, std::string_view ns, const ListOptions& options);
HttpRequest watch(const Resource& resource, std::string_view ns, const WatchOptions& options);
/// POST to the collection of the object's namespace.
HttpRequest create(const Resource& resource, const Object& object, const WriteOptions& options = {});
/// POST to a subresource of the object, e.g. eviction or token.
HttpRequest create_subresource(const Resource& resource, const ObjectKey& key, std::string_view subresource,
                               std::string body);
HttpRequest replace(const Resource& resource, const Object& object, const WriteOptions& options = {});
HttpRequest patch(const Resource& resource, const ObjectKey& key, Patch patch, const WriteOptions& options = {});
HttpRequest remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options = {});
HttpRequest remove_collection(const Resource& resource, std::string_view ns, const Selection& selection,
                              const DeleteOptions& options = {});

}  // namespace request
}  // namespace kube
