// From a request to a verb, and from its outcome to an answer.
#include <optional>

#include "kube/base/scalar.hpp"
#include "kube/base/url.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "request.hpp"

namespace kube::testing {

namespace {

FakeAnswer answer_with(int status, std::string body) {
  FakeAnswer answer;
  answer.status = status;
  answer.body = std::move(body);
  return answer;
}

FakeAnswer answer_with(const Refusal& refusal) {
  FakeAnswer answer = answer_with(refusal.code, json::serialize(refusal.document()));
  if (const json::value* seconds = refusal.details.if_contains("retryAfterSeconds"))
    answer.headers.emplace_back("retry-after", json::serialize(*seconds));
  return answer;
}

Answer<DeleteOptions> delete_options(const FakeRequest& request) {
  DeleteOptions options;
  options.uid = string_at(request.body, {"preconditions", "uid"});
  options.resource_version = string_at(request.body, {"preconditions", "resourceVersion"});
  if (find(request.body, {"gracePeriodSeconds"}))
    options.grace_period_seconds = int_at(request.body, {"gracePeriodSeconds"});
  if (const std::string_view seconds = request.parameter("gracePeriodSeconds"); !seconds.empty()) {
    options.grace_period_seconds = read_number<std::int64_t>(seconds);
    if (!options.grace_period_seconds)
      return refuse::bad_request("gracePeriodSeconds is no whole number: \"" + std::string(seconds) + "\"");
  }
  const std::string_view policy = string_at(request.body, {"propagationPolicy"});
  if (policy == "Foreground") options.propagation = Propagation::foreground;
  if (policy == "Orphan") options.propagation = Propagation::orphan;
  if (policy == "Background") options.propagation = Propagation::background;
  options.dry_run = request.dry_run() || !array_at(request.body, {"dryRun"}).empty();
  return options;
}

std::string success(const FakeKind& kind, const json::object& object) {
  json::object details{{"name", string_at(object, {"metadata", "name"})},
                       {"kind", kind.plural},
                       {"uid", string_at(object, {"metadata", "uid"})}};
  if (!kind.group.empty()) details["group"] = kind.group;
  return json::serialize(json::object{{"kind", "Status"},
                                      {"apiVersion", "v1"},
                                      {"metadata", json::object()},
                                      {"status", "Success"},
                                      {"details", std::move(details)}});
}

/// Paths outside the API groups: health and version.
std::optional<FakeAnswer> answer_plain(std::string_view target) {
  const std::string_view path = path_of(target);
  if (path == "/healthz" || path == "/livez" || path == "/readyz") return answer_with(200, "ok");
  if (path == "/version")
    return answer_with(200, R"({"major":"1","minor":"35","gitVersion":"v1.35.4","platform":"linux/amd64"})");
  return std::nullopt;
}

/// Reviews of the caller's own name and rights, which are not stored. The caller is `actor`, and may do everything.
std::optional<FakeAnswer> answer_review(const HttpRequest& http, std::string_view actor) {
  if (http.method != "POST") return std::nullopt;
  const auto answer = [&http](std::string_view field, json::value value) {
    auto body = parse_json(http.body);
    json::object review = body && body->is_object() ? std::move(body->get_object()) : json::object();
    ensure_object(review, "status")[field] = std::move(value);
    return answer_with(201, json::serialize(review));
  };
  if (http.target == "/apis/authentication.k8s.io/v1/selfsubjectreviews")
    return answer("userInfo", json::object{{"username", actor}});
  if (http.target == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") return answer("allowed", true);
  return std::nullopt;
}

/// Whether requests other than POST may name this subresource.
bool serves_subresource(const FakeKind& kind, std::string_view subresource) {
  if (subresource == "status") return kind.status_subresource;
  return is_core(kind, "pods") && (subresource == "ephemeralcontainers" || subresource == "resize");
}

/// Whether the body of a PUT is an object of the name in the path.
Answer<> check_replacement(const FakeRequest& request) {
  const FakeKind& kind = request.table->kind;
  if (!request.body.is_object()) return refuse::bad_request("the body is not an object");
  const std::string_view name = string_at(request.body, {"metadata", "name"});
  if (name != request.key.name)
    return refuse::bad_request("the name of the object (" + std::string(name) +
                               ") does not match the name on the URL (" + request.key.name + ")");
  if (kind.custom && string_at(request.body, {"metadata", "resourceVersion"}).empty())
    return refuse::invalid({kind.group, kind.plural, name}, "metadata.resourceVersion",
                           "Invalid value: 0: must be specified for an update");
  return {};
}

/// What a DELETE of a collection is about.
Answer<std::vector<ObjectKey>> selected_keys(const FakeRequest& request) {
  KUBE_TRY(selector, parse_selector(request.parameter("labelSelector"), request.parameter("fieldSelector")));
  std::vector<ObjectKey> keys;
  for (const auto& [key, object] : request.table->objects)
    if ((request.key.ns.empty() || key.ns == request.key.ns) && selector.matches(*object)) keys.push_back(key);
  return keys;
}

}  // namespace

Answer<Tree> FakeApiServer::post_subresource(const FakeRequest& request, std::string_view actor) {
  FakeTable& table = *request.table;
  const FakeKind& kind = table.kind;
  const auto found = table.objects.find(request.key);
  if (found == table.objects.end()) return refuse::not_found(kind.group, kind.plural, request.key.name);
  if (is_core(kind, "pods") && request.subresource == "eviction") return evict(request, actor);
  if (is_core(kind, "pods") && request.subresource == "binding") {
    const json::object& pod = *found->second;
    if (!string_at(pod, {"spec", "nodeName"}).empty())
      return refuse::conflict(kind.group, "pods/binding", request.key.name, "the pod is already assigned to a node");
    json::object bound = pod;
    ensure_object(bound, "spec")["nodeName"] = string_at(request.body, {"target", "name"});
    return store_.put(table, std::move(bound), actor);
  }
  if (is_core(kind, "serviceaccounts") && request.subresource == "token") {
    json::object answer = request.body.is_object() ? request.body.get_object() : json::object();
    const std::int64_t seconds = int_at(answer, {"spec", "expirationSeconds"}, 3600);
    json::array& audiences = ensure_array(ensure_object(answer, "spec"), "audiences");
    if (audiences.empty()) audiences.emplace_back("https://kubernetes.default.svc");
    answer["status"] =
        json::object{{"token", "token-" + store_.new_uid()},
                     {"expirationTimestamp", format_time(store_.clock().wall() + std::chrono::seconds(seconds))}};
    return std::make_shared<const json::object>(std::move(answer));
  }
  return refuse::no_such_path();
}

Answer<FakeAnswer> FakeApiServer::dispatch(FakeRequest& request, std::string_view actor) {
  FakeTable& table = *request.table;
  const FakeKind& kind = table.kind;
  const bool collection = request.key.name.empty();
  const auto object_answer = [](const Answer<Tree>& stored, int status) -> Answer<FakeAnswer> {
    if (!stored) return std::unexpected(stored.error());
    return answer_with(status, json::serialize(**stored));
  };
  // The conditions of a signing request are written through a subresource of their own.
  if (kind.group == "certificates.k8s.io" && kind.plural == "certificatesigningrequests" &&
      request.subresource == "approval")
    request.subresource = "status";
  if (request.method != "POST" && !request.subresource.empty() && !serves_subresource(kind, request.subresource))
    return refuse::no_such_path();

  if (request.method == "GET") {
    if (collection) return request.is_set("watch") ? watch_answer(request) : list_answer(request);
    const auto found = table.objects.find(request.key);
    if (found == table.objects.end()) return refuse::not_found(kind.group, kind.plural, request.key.name);
    return object_answer(with_managers(found->second), 200);
  }
  if (request.method == "POST") {
    if (!request.subresource.empty()) return object_answer(post_subresource(request, actor), 201);
    if (!collection) return refuse::method_not_allowed();
    if (kind.namespaced && request.key.ns.empty())
      return refuse::bad_request("an empty namespace may not be set during creation");
    if (!request.body.is_object()) return refuse::bad_request("the body is not an object");
    return object_answer(
        create(table, request.key.ns, std::move(request.body.get_object()), {actor, request.dry_run()}), 201);
  }
  if (request.method == "PUT" && !collection) {
    KUBE_TRYV(check_replacement(request));
    return object_answer(replace({table, request.key, request.subresource}, std::move(request.body.get_object()),
                                 {actor, request.dry_run(), request.parameter("fieldManager")}),
                         200);
  }
  if (request.method == "PATCH" && !collection) {
    const bool existed = table.objects.contains(request.key);
    return object_answer(patch(request, actor), existed ? 200 : 201);
  }
  if (request.method != "DELETE") return refuse::method_not_allowed();
  KUBE_TRY(options, delete_options(request));
  if (!collection) {
    KUBE_TRY(removed, remove(table, request.key, options, actor));
    // The answer is the object if it is a pod or still there, because of finalizers, and a Status otherwise.
    if (is_core(kind, "pods") || table.objects.contains(request.key))
      return answer_with(200, json::serialize(*removed));
    return answer_with(200, success(kind, *removed));
  }
  KUBE_TRY(keys, selected_keys(request));
  for (const ObjectKey& key : keys) KUBE_TRYV(remove(table, key, options, actor));
  return answer_with(200, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})");
}

FakeAnswer FakeApiServer::handle(const HttpRequest& http, std::string_view actor) {
  if (auto plain = answer_plain(http.target)) return std::move(*plain);
  if (auto review = answer_review(http, actor)) return std::move(*review);
  if (http.method == "GET")
    if (auto document = discover(store_, http.target)) {
      FakeAnswer answer = answer_with(200, json::serialize(*document));
      answer.headers.emplace_back("content-type", "application/json");
      return answer;
    }
  auto request = read_request(store_, http);
  FakeAnswer answer;
  if (!request) {
    answer = answer_with(request.error());
  } else {
    auto done = dispatch(*request, actor);
    answer = done ? std::move(*done) : answer_with(done.error());
    if (request->method != "GET")
      writes_.push_back({store_.clock().now(), std::string(actor), request->method, request->table->kind.plural,
                         request->subresource, request->key, answer.status});
  }
  answer.headers.emplace_back("content-type", "application/json");
  return answer;
}

}  // namespace kube::testing
