// PATCH on the fake API server.
#include "kube/testing/fake/api_server.hpp"
#include "patch.hpp"
#include "request.hpp"

namespace kube::testing {

namespace {

/// Stands for the manager that made an object by other means than an apply.
constexpr std::string_view maker = "someone/";

/// The part of an apply configuration that a manager comes to own.
json::object owned_part(json::object config) {
  config.erase("apiVersion");
  config.erase("kind");
  if (json::value* value = config.if_contains("metadata"); value && value->is_object()) {
    json::object& metadata = value->get_object();
    for (std::string_view key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generateName"})
      metadata.erase(key);
    if (metadata.empty()) config.erase("metadata");
  }
  return config;
}

}  // namespace

Answer<Tree> FakeApiServer::patch(const FakeRequest& request, std::string_view actor) {
  const std::string_view media = request.content_type;
  if (media == "application/apply-patch+yaml") return apply(request, actor);
  FakeTable& table = *request.table;
  const FakeKind& kind = table.kind;
  const bool known = media == "application/json-patch+json" || media == "application/merge-patch+json" ||
                     (media == "application/strategic-merge-patch+json" && !kind.custom);
  if (!known) return refuse::unsupported_media_type(media);
  const auto found = table.objects.find(request.key);
  if (found == table.objects.end()) return refuse::not_found(kind.group, kind.plural, request.key.name);

  json::value next = *found->second;
  if (media == "application/json-patch+json") {
    KUBE_TRYV(json_patch(next, request.body));
  } else {
    if (!request.body.is_object()) return refuse::bad_request("a merge patch is an object");
    if (media == "application/merge-patch+json")
      merge_patch(next, request.body);
    else
      strategic_merge(next.as_object(), request.body.get_object());
  }
  if (!next.is_object()) return refuse::bad_request("the patched document is not an object");
  const std::string_view name = string_at(next, {"metadata", "name"});
  if (name != request.key.name)
    return refuse::invalid({kind.group, kind.kind, request.key.name}, "metadata.name",
                           "Invalid value: field is immutable");
  return replace({table, request.key, request.subresource}, std::move(next.get_object()),
                 {actor, request.dry_run(), request.parameter("fieldManager")});
}

Answer<Tree> FakeApiServer::apply(const FakeRequest& request, std::string_view actor) {
  FakeTable& table = *request.table;
  const FakeKind& kind = table.kind;
  const std::string manager = std::string(request.parameter("fieldManager"));
  if (manager.empty())
    return refuse::bad_request("PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value");
  const json::object* config = request.body.if_object();
  if (!config) return refuse::bad_request("an apply configuration is an object");
  if (string_at(*config, {"apiVersion"}) != kind.api_version() || string_at(*config, {"kind"}) != kind.kind)
    return refuse::bad_request("an apply configuration names apiVersion and kind of the path");
  if (kube::find(*config, {"metadata", "managedFields"}))
    return refuse::bad_request("metadata.managedFields must be nil");

  const std::string owner = manager + "/" + request.subresource;
  json::object wanted = owned_part(*config);
  const auto found = table.objects.find(request.key);
  if (found == table.objects.end()) {
    if (!request.subresource.empty() || kube::find(*config, {"metadata", "uid"}))
      return refuse::not_found(kind.group, kind.plural, request.key.name);
    json::object fresh = *config;
    json::object& metadata = ensure_object(fresh, "metadata");
    metadata["name"] = request.key.name;
    auto created = create(table, request.key.ns, std::move(fresh), {actor, request.dry_run()});
    if (created && !request.dry_run()) {
      note_writer(**created, {}, {actor, false, manager});
      applied_[std::string(string_at(**created, {"metadata", "uid"}))][owner] = std::move(wanted);
    }
    return with_managers(std::move(created));
  }

  const std::string uid(string_at(*found->second, {"metadata", "uid"}));
  // The one that made it by other means than an apply is one of its managers, too.
  auto& managers = applied_.try_emplace(uid, Managers{{std::string(maker), json::object()}}).first->second;
  if (!request.is_set("force")) {
    for (const auto& [other, theirs] : managers) {
      if (other == owner || other == maker) continue;
      const std::string field = disagreement(wanted, theirs, !kind.custom);
      if (field.empty()) continue;
      json::object details{{"causes", json::array{json::object{{"reason", "FieldManagerConflict"},
                                                               {"message", "conflict with \"" + other + "\""},
                                                               {"field", field}}}}};
      return std::unexpected(Refusal{409, "Conflict",
                                     "Apply failed with 1 conflict: conflict with \"" + other + "\": " + field,
                                     std::move(details)});
    }
  }
  json::object next = *found->second;
  // Identity and version that the configuration names are preconditions, checked by the update.
  for (std::string_view key : {"uid", "resourceVersion"})
    if (const json::value* value = kube::find(*config, {"metadata", key})) next["metadata"].as_object()[key] = *value;
  const auto last = managers.find(owner);
  apply_configuration(next, wanted, last == managers.end() ? json::object() : last->second, !kind.custom);
  auto stored =
      replace({table, request.key, request.subresource}, std::move(next), {actor, request.dry_run(), manager});
  if (stored && !request.dry_run() && table.objects.contains(request.key)) note_apply(uid, owner, std::move(wanted));
  return with_managers(std::move(stored));
}

void FakeApiServer::note_apply(const std::string& uid, const std::string& owner, json::object fields) {
  Managers& managers = applied_[uid];
  managers[owner] = std::move(fields);
  if (!manners_.manager_times) return;
  // What others have updated is taken from them, so they manage nothing of it any more.
  const std::string_view subresource = std::string_view(owner).substr(owner.rfind('/'));
  std::erase_if(written_[uid], [&](const auto& entry) {
    return !managers.contains(entry.first) && entry.first.ends_with(subresource);
  });
}

Answer<Tree> FakeApiServer::with_managers(Answer<Tree> stored) const {
  if (!stored) return stored;
  const auto found = applied_.find(std::string(string_at(**stored, {"metadata", "uid"})));
  if (found == applied_.end()) return stored;
  const auto times = written_.find(found->first);
  json::array entries;
  const auto add = [this, &entries](std::string_view owner, std::string_view operation, std::string_view time) {
    const std::size_t slash = owner.rfind('/');
    json::object entry{{"manager", owner.substr(0, slash)}, {"operation", operation}, {"fieldsV1", json::object()}};
    if (!time.empty()) entry["time"] = time;
    if (manners_.manager_times && slash + 1 < owner.size()) entry["subresource"] = owner.substr(slash + 1);
    entries.push_back(std::move(entry));
  };
  for (const auto& [owner, fields] : found->second) {
    const bool is_known = times != written_.end() && times->second.contains(owner);
    add(owner, owner == maker ? "Update" : "Apply",
        is_known ? std::string_view(times->second.at(owner)) : std::string_view());
  }
  if (times != written_.end())
    for (const auto& [owner, time] : times->second)
      if (!found->second.contains(owner)) add(owner, "Update", time);
  json::object answer = **stored;
  ensure_object(answer, "metadata")["managedFields"] = std::move(entries);
  return std::make_shared<const json::object>(std::move(answer));
}

}  // namespace kube::testing
