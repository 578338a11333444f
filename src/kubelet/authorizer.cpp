#include "kubelet/authorizer.hpp"

#include "core/common/digest.hpp"
#include "kube/base/text.hpp"
#include "kube/client/access_review.hpp"

namespace liqo::kubelet {
namespace {

namespace json = kube::json;

constexpr std::string_view authenticated_group = "system:authenticated";
constexpr std::size_t max_token = 16 * 1024;

Refusal unauthorized() { return {401, "Unauthorized"}; }

Refusal unavailable(const kube::Failure& failure) { return {503, "the caller cannot be checked: " + failure.text()}; }

std::string_view bearer_token(std::string_view header) {
  // RFC 6750: the name of the scheme is case-insensitive.
  constexpr std::string_view scheme = "bearer ";
  if (header.size() <= scheme.size() || kube::lower_case(header.substr(0, scheme.size())) != scheme) return {};
  header.remove_prefix(scheme.size());
  while (header.starts_with(' ')) header.remove_prefix(1);
  return header;
}

std::expected<Caller, Refusal> read_token_review(const json::value& review) {
  if (!kube::bool_at(review, {"status", "authenticated"})) return std::unexpected(unauthorized());
  Caller caller;
  caller.name = std::string(kube::string_at(review, {"status", "user", "username"}));
  caller.uid = std::string(kube::string_at(review, {"status", "user", "uid"}));
  caller.groups = kube::strings_in(kube::array_at(review, {"status", "user", "groups"}));
  caller.extra = kube::object_at(review, {"status", "user", "extra"});
  if (caller.name.empty()) return std::unexpected(unauthorized());
  return caller;
}

json::object access_spec(const Caller& caller, std::string_view kind, json::object attributes) {
  json::object spec;
  spec[kind] = std::move(attributes);
  spec["user"] = caller.name;
  spec["groups"] = json::array(caller.groups.begin(), caller.groups.end());
  if (!caller.uid.empty()) spec["uid"] = caller.uid;
  if (!caller.extra.empty()) spec["extra"] = caller.extra;
  return spec;
}

}  // namespace

Authorizer::Authorizer(kube::Api& replica_api, kube::Counter limited, AuthorizerSettings settings)
    : replica_api_(replica_api),
      settings_(settings),
      unknown_callers_(settings.unknown_callers),
      limited_(std::move(limited)) {}

template <class Value>
const Value* Authorizer::find(Cache<Value>& cache, const std::string& key) {
  const auto found = cache.entries.find(key);
  if (found == cache.entries.end() || found->second.until <= replica_api_.clock().now()) return nullptr;
  return &found->second.value;
}

template <class Value>
void Authorizer::forget(Cache<Value>& cache, const std::string& key) {
  const auto old = cache.entries.find(key);
  if (old == cache.entries.end()) return;
  cache.order.erase(old->second.place);
  cache.entries.erase(old);
}

template <class Value>
void Authorizer::remember(Cache<Value>& cache, const std::string& key, Value value, kube::Duration time) {
  forget(cache, key);
  while (cache.entries.size() >= settings_.max_entries && !cache.order.empty()) {
    cache.entries.erase(cache.order.front());
    cache.order.pop_front();
  }
  const auto place = cache.order.insert(cache.order.end(), key);
  cache.entries.emplace(key, typename Cache<Value>::Entry{std::move(value), replica_api_.clock().now() + time, place});
}

asio::awaitable<Authorizer::Identified> Authorizer::authenticate(const kube::net::ServerRequest& request) {
  if (request.peer && !request.peer->common_name.empty()) {
    Caller caller{.name = request.peer->common_name, .groups = request.peer->organizations};
    caller.groups.emplace_back(authenticated_group);
    co_return caller;
  }
  std::string token(bearer_token(request.header("authorization")));
  if (token.empty() || token.size() > max_token) co_return std::unexpected(unauthorized());
  std::string key = core::sha256_hex(token), address = request.peer_address;
  while (true) {
    if (const Caller* known = find(callers_, key)) co_return *known;
    if (const Refusal* known = find(unknown_tokens_, key)) co_return std::unexpected(*known);
    const auto asked = reviews_.find(key);
    if (asked == reviews_.end()) break;
    // A scraper of many nodes asks them at the same time, and its token changes from time to time.
    const std::shared_ptr<Review> under_way = asked->second;
    co_await under_way->done.wait();
    if (under_way->answer) co_return *under_way->answer;
  }
  co_return co_await review(std::move(token), std::move(key), std::move(address));
}

asio::awaitable<Authorizer::Identified> Authorizer::review(std::string token, std::string key, std::string address) {
  // A caller whose token was good a while ago does not wait behind unknown callers at the same address.
  const bool is_known = callers_.entries.contains(key);
  if (!is_known && !unknown_callers_.take(address, replica_api_.clock().now())) {
    limited_.add();
    co_return std::unexpected(
        Refusal{429, "too many tokens that nobody knows came from this address; try again in a minute"});
  }
  const auto under_way = std::make_shared<Review>(co_await asio::this_coro::executor);
  reviews_[key] = under_way;
  // Callers that wait for the review are notified of its end even if its own caller goes away.
  const std::shared_ptr<void> end(nullptr, [this, key, under_way](void*) {
    reviews_.erase(key);
    under_way->done.set();
  });
  kube::Object review;
  review.set_kind(kube::resources::token_reviews);
  review.mutable_spec()["token"] = json::string(token);
  auto answer = co_await replica_api_.post(kube::resources::token_reviews, {}, {}, std::move(review.tree()));
  auto caller = answer ? read_token_review(*answer) : std::unexpected(unavailable(answer.error()));
  const kube::TimePoint now = replica_api_.clock().now();
  if (!is_known && (caller || !answer)) unknown_callers_.give_back(address, now);
  if (caller) {
    unknown_callers_.trust(address, now);
    remember(callers_, key, *caller, settings_.allowed_for);
  } else if (answer) {
    forget(callers_, key);
    remember(unknown_tokens_, key, caller.error(), settings_.denied_for);
  }
  under_way->answer = caller;
  co_return caller;
}

asio::awaitable<std::expected<void, Refusal>> Authorizer::authorize(const Caller& caller, NodeAccess access) {
  if (!access.narrower.empty()) {
    NodeAccess narrow{.verb = access.verb, .subresource = access.narrower, .node = access.node};
    auto allowed = co_await authorize(caller, std::move(narrow));
    if (allowed || allowed.error().status != 403) co_return allowed;
  }
  json::object attributes;
  attributes["verb"] = json::string(access.verb);
  attributes["version"] = "v1";
  attributes["resource"] = "nodes";
  attributes["subresource"] = json::string(access.subresource);
  if (!access.node.empty()) attributes["name"] = access.node;
  std::string wanted = "user=" + caller.name + ", verb=" + std::string(access.verb) + ", resource=nodes/" +
                       std::string(access.subresource) + " of " +
                       (access.node.empty() ? "all nodes" : "node " + access.node);
  co_return co_await ask(access_spec(caller, "resourceAttributes", std::move(attributes)), std::move(wanted));
}

asio::awaitable<std::expected<void, Refusal>> Authorizer::authorize(const Caller& caller, PathAccess access) {
  json::object attributes;
  attributes["verb"] = json::string(access.verb);
  attributes["path"] = json::string(access.path);
  std::string wanted =
      "user=" + caller.name + ", verb=" + std::string(access.verb) + ", path=" + std::string(access.path);
  co_return co_await ask(access_spec(caller, "nonResourceAttributes", std::move(attributes)), std::move(wanted));
}

asio::awaitable<std::expected<void, Refusal>> Authorizer::ask(json::object spec, std::string wanted) {
  const std::string key = core::sha256_hex(json::serialize(spec));
  if (find(allowed_, key)) co_return std::expected<void, Refusal>();
  if (const Refusal* known = find(denied_, key)) co_return std::unexpected(*known);

  const auto allowed = co_await kube::has_access(replica_api_, std::move(spec));
  if (!allowed) co_return std::unexpected(unavailable(allowed.error()));
  if (*allowed) {
    remember(allowed_, key, true, settings_.allowed_for);
    co_return std::expected<void, Refusal>();
  }
  Refusal refusal{403, "Forbidden (" + wanted + ")"};
  remember(denied_, key, refusal, settings_.denied_for);
  co_return std::unexpected(std::move(refusal));
}

}  // namespace liqo::kubelet
