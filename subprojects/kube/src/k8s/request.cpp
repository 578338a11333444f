#include "kube/k8s/request.hpp"
#include "kube/base/text.hpp"
#include "kube/base/url.hpp"

namespace kube {

std::string_view find_header(const HttpHeaders& headers, std::string_view name) {
  const std::string wanted = lower_case(name);
  for (const auto& [have, value] : headers)
    if (have.size() == wanted.size() && lower_case(have) == wanted) return value;
  return {};
}

std::string label_is(std::string_view key, std::string_view value) {
  return std::string(key) + "=" + std::string(value);
}
std::string label_is_not(std::string_view key, std::string_view value) {
  return std::string(key) + "!=" + std::string(value);
}
std::string name_is(std::string_view name) { return "metadata.name=" + std::string(name); }

namespace {

std::string with_subresource(std::string path, std::string_view subresource) {
  if (!subresource.empty()) path.append("/").append(subresource);
  return path;
}

std::string write_target(std::string path, const WriteOptions& options) {
  RequestTarget target(with_subresource(std::move(path), options.subresource));
  target.add_if("fieldManager", options.field_manager);
  if (options.dry_run) target.add("dryRun", "All");
  return target.take();
}

void add_selection(RequestTarget& target, const Selection& selection) {
  target.add_if("labelSelector", selection.label_selector).add_if("fieldSelector", selection.field_selector);
}

std::string delete_body(const DeleteOptions& options) {
  json::object body{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  json::object preconditions;
  if (!options.uid.empty()) preconditions["uid"] = options.uid;
  if (!options.resource_version.empty()) preconditions["resourceVersion"] = options.resource_version;
  if (!preconditions.empty()) body["preconditions"] = std::move(preconditions);
  if (options.grace_period_seconds) body["gracePeriodSeconds"] = *options.grace_period_seconds;
  if (options.dry_run) body["dryRun"] = json::array{"All"};
  switch (options.propagation) {
    case Propagation::server_default:
      break;
    case Propagation::background:
      body["propagationPolicy"] = "Background";
      break;
    case Propagation::foreground:
      body["propagationPolicy"] = "Foreground";
      break;
    case Propagation::orphan:
      body["propagationPolicy"] = "Orphan";
      break;
  }
  return json::serialize(body);
}

HttpRequest make(std::string_view method, std::string_view verb, const Resource& resource, std::string target) {
  HttpRequest request;
  request.method = method;
  request.target = std::move(target);
  request.headers.emplace_back("accept", "application/json");
  request.verb = verb;
  request.resource = resource.plural;
  return request;
}

/// Asks for another form of the answer; a server that does not know it sends the usual one.
void set_form(HttpRequest& request, std::string_view kind) {
  for (auto& [name, value] : request.headers)
    if (name == "accept") value = "application/json;as=" + std::string(kind) + ";v=v1;g=meta.k8s.io,application/json";
}

void set_body(HttpRequest& request, std::string_view type, std::string body) {
  request.headers.emplace_back("content-type", type);
  request.body = std::move(body);
}

}  // namespace

namespace request {

HttpRequest get(const Resource& resource, const ObjectKey& key, std::string_view subresource) {
  HttpRequest out = make("GET", "get", resource, with_subresource(resource.path(key.ns, key.name), subresource));
  out.repeatable = true;
  return out;
}

HttpRequest list(const Resource& resource, std::string_view ns, const ListOptions& options) {
  RequestTarget target(resource.path(ns));
  add_selection(target, options.selection);
  if (options.limit > 0) target.add("limit", std::to_string(options.limit));
  target.add_if("continue", options.continue_token);
  // The server refuses a resourceVersion beside a continue token.
  if (options.continue_token.empty()) target.add_if("resourceVersion", options.resource_version);
  HttpRequest out = make("GET", "list", resource, target.take());
  if (options.metadata_only) set_form(out, "PartialObjectMetadataList");
  out.repeatable = true;
  return out;
}

HttpRequest watch(const Resource& resource, std::string_view ns, const WatchOptions& options) {
  RequestTarget target(resource.path(ns));
  target.add("watch", "true");
  add_selection(target, options.selection);
  if (options.bookmarks) target.add("allowWatchBookmarks", "true");
  if (options.send_initial_events) target.add("sendInitialEvents", "true").add("resourceVersionMatch", "NotOlderThan");
  target.add_if("resourceVersion", options.resource_version);
  target.add("timeoutSeconds", std::to_string(options.timeout.count()));
  // Opening is repeatable; once events flow, the watcher itself resumes from the last version.
  HttpRequest out = make("GET", "watch", resource, target.take());
  if (options.metadata_only) set_form(out, "PartialObjectMetadata");
  out.repeatable = true;
  out.open_ended = true;
  return out;
}

HttpRequest create(const Resource& resource, const Object& object, const WriteOptions& options) {
  HttpRequest out = make("POST", "create", resource, write_target(resource.path(object.ns()), options));
  set_body(out, "application/json", object.text());
  return out;
}

HttpRequest create_subresource(const Resource& resource, const ObjectKey& key, std::string_view subresource,
                               std::string body) {
  HttpRequest out = make("POST", "create", resource, with_subresource(resource.path(key.ns, key.name), subresource));
  set_body(out, "application/json", std::move(body));
  return out;
}

HttpRequest replace(const Resource& resource, const Object& object, const WriteOptions& options) {
  HttpRequest out = make("PUT", "update", resource, write_target(resource.path(object.ns(), object.name()), options));
  set_body(out, "application/json", object.text());
  // With a resourceVersion a second PUT answers 409 at worst, and the caller decides again from a fresh read.
  out.repeatable = !object.resource_version().empty();
  return out;
}

HttpRequest patch(const Resource& resource, const ObjectKey& key, Patch patch, const WriteOptions& options) {
  std::string target = write_target(resource.path(key.ns, key.name), options);
  std::string_view media = "application/json-patch+json";
  switch (patch.type) {
    case PatchType::json:
      break;
    case PatchType::merge:
      media = "application/merge-patch+json";
      break;
    case PatchType::strategic_merge:
      media = "application/strategic-merge-patch+json";
      break;
    case PatchType::apply:
      media = "application/apply-patch+yaml";
      if (patch.force) target.append(!target.contains('?') ? "?" : "&").append("force=true");
      break;
  }
  HttpRequest out = make("PATCH", patch.type == PatchType::apply ? "apply" : "patch", resource, std::move(target));
  set_body(out, media, std::move(patch.body));
  // Merge patches and apply set what they name; a JSON patch may append, so it is not sent twice.
  out.repeatable = patch.type != PatchType::json;
  return out;
}

HttpRequest remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options) {
  HttpRequest out = make("DELETE", "delete", resource, resource.path(key.ns, key.name));
  set_body(out, "application/json", delete_body(options));
  // Without a UID a second delete could hit a successor of the same name.
  out.repeatable = !options.uid.empty();
  return out;
}

HttpRequest remove_collection(const Resource& resource, std::string_view ns, const Selection& selection,
                              const DeleteOptions& options) {
  RequestTarget target(resource.path(ns));
  add_selection(target, selection);
  HttpRequest out = make("DELETE", "deletecollection", resource, target.take());
  set_body(out, "application/json", delete_body(options));
  return out;
}

}  // namespace request
}  // namespace kube
