#include "liqo/kubelet/authorizer.hpp"

#include "liqo/core/mapping/names.hpp"

namespace liqo::kubelet {
namespace {

namespace json = kube::json;

constexpr std::string_view authenticated_group = "system:authenticated";
constexpr std::size_t token_limit = 16 * 1024;

Refusal unauthorized() { return {401, "Unauthorized"}; }

Refusal unavailable(const kube::Failure& failure) { return {503, "the caller cannot be checked: " + failure.text()}; }

std::string_view bearer_token(std::string_view header) {
  // RFC 6750: the scheme's name has no case.
  constexpr std::string_view scheme = "bearer ";
  if (header.size() <= scheme.size()) return {};
  for (std::size_t i = 0; i < scheme.size(); ++i) {
    const char c = header[i] >= 'A' && header[i] <= 'Z' ? static_cast<char>(header[i] + 32) : header[i];
    if (c != scheme[i]) return {};
  }
  header.remove_prefix(scheme.size());
  while (header.starts_with(' ')) header.remove_prefix(1);
  return header;
}

json::array strings(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

// A review is POSTed to its collection and answered with its status; it is never stored.
json::object make_review(const kube::Resource& resource, json::object spec) {
  json::object review;
  review["apiVersion"] = resource.api_version();
  review["kind"] = json::string(resource.kind);
  review["spec"] = std::move(spec);
  return review;
}

std::expected<Caller, Refusal> read_token_review(const json::value& review) {
  if (!kube::bool_at(review, {"status", "authenticated"})) return std::unexpected(unauthorized());
  Caller caller;
  caller.name = std::string(kube::string_at(review, {"status", "user", "username"}));
  caller.uid = std::string(kube::string_at(review, {"status", "user", "uid"}));
  for (const json::value& group : kube::array_at(review, {"status", "user", "groups"})) {
    if (group.is_string()) caller.groups.emplace_back(group.get_string());
  }
  caller.extra = kube::object_at(review, {"status", "user", "extra"});
  if (caller.name.empty()) return std::unexpected(unauthorized());
  return caller;
}

json::object access_spec(const Caller& caller, const NodeAccess& access) {
  json::object attributes;
  attributes["verb"] = json::string(access.verb);
  attributes["version"] = "v1";
  attributes["resource"] = "nodes";
  attributes["subresource"] = json::string(access.subresource);
  if (!access.node.empty()) attributes["name"] = access.node;
  json::object spec;
  spec["resourceAttributes"] = std::move(attributes);
  spec["user"] = caller.name;
  spec["groups"] = strings(caller.groups);
  if (!caller.uid.empty()) spec["uid"] = caller.uid;
  if (!caller.extra.empty()) spec["extra"] = caller.extra;
  return spec;
}

}  // namespace

template <class Value>
const Value* Authorizer::find(Cache<Value>& cache, const std::string& key) {
  const auto found = cache.entries.find(key);
  if (found == cache.entries.end() || found->second.until <= api_.clock().now()) return nullptr;
  return &found->second.value;
}

template <class Value>
void Authorizer::remember(Cache<Value>& cache, const std::string& key, Value value, bool allowed) {
  if (const auto old = cache.entries.find(key); old != cache.entries.end()) {
    cache.order.erase(old->second.place);
    cache.entries.erase(old);
  }
  while (cache.entries.size() >= settings_.entries && !cache.order.empty()) {
    cache.entries.erase(cache.order.front());
    cache.order.pop_front();
  }
  const auto place = cache.order.insert(cache.order.end(), key);
  const auto until = api_.clock().now() + (allowed ? settings_.allowed_for : settings_.denied_for);
  cache.entries.emplace(key, typename Cache<Value>::Entry{std::move(value), until, place});
}

asio::awaitable<std::expected<Caller, Refusal>> Authorizer::authenticate(const kube::net::ServerRequest& request) {
  if (request.peer && !request.peer->common_name.empty()) {
    Caller caller{.name = request.peer->common_name, .groups = request.peer->organizations};
    caller.groups.emplace_back(authenticated_group);
    co_return caller;
  }
  const std::string_view token = bearer_token(request.header("authorization"));
  if (token.empty() || token.size() > token_limit) co_return std::unexpected(unauthorized());
  const std::string key = core::sha256_hex(token);
  if (const auto* known = find(tokens_, key)) co_return *known;

  json::object spec;
  spec["token"] = json::string(token);
  json::object review = make_review(kube::resources::token_reviews, std::move(spec));
  auto answer = co_await api_.post(kube::resources::token_reviews, {}, {}, std::move(review));
  if (!answer) co_return std::unexpected(unavailable(answer.error()));
  auto caller = read_token_review(*answer);
  const bool allowed = caller.has_value();
  remember(tokens_, key, caller, allowed);
  co_return caller;
}

asio::awaitable<std::expected<void, Refusal>> Authorizer::authorize(const Caller& caller, NodeAccess access) {
  json::object spec = access_spec(caller, access);
  const std::string key = core::sha256_hex(json::serialize(spec));
  if (const auto* known = find(decisions_, key)) co_return *known;

  json::object review = make_review(kube::resources::subject_access_reviews, std::move(spec));
  auto answer = co_await api_.post(kube::resources::subject_access_reviews, {}, {}, std::move(review));
  if (!answer) co_return std::unexpected(unavailable(answer.error()));
  std::expected<void, Refusal> decision;
  const bool allowed = kube::bool_at(*answer, {"status", "allowed"}) && !kube::bool_at(*answer, {"status", "denied"});
  if (!allowed) {
    const std::string node = access.node.empty() ? "all nodes" : "node " + access.node;
    decision =
        std::unexpected(Refusal{403, "Forbidden (user=" + caller.name + ", verb=" + std::string(access.verb) +
                                         ", resource=nodes/" + std::string(access.subresource) + " of " + node + ")"});
  }
  remember(decisions_, key, decision, allowed);
  co_return decision;
}

}  // namespace liqo::kubelet
