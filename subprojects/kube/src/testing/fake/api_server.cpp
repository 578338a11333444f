// Create, replace and the direct entry points of the fake API server.
#include "kube/testing/fake/api_server.hpp"

#include "semantics.hpp"

namespace kube::testing {

namespace {

bool is_gone_by(const json::object& object) {
  return is_deleting(object) && array_at(object, {"metadata", "finalizers"}).empty() &&
         int_at(object, {"metadata", "deletionGracePeriodSeconds"}) == 0;
}

}  // namespace

FakeApiServer::FakeApiServer(VirtualClock& clock, std::uint64_t seed) : store_(clock, seed) {
  for (FakeKind& kind : built_in_kinds()) store_.serve(std::move(kind));
  store_.on_change([this](const FakeChange& change) {
    if (change.type != ChangeType::deleted) return;
    const std::string uid(string_at(*change.after, {"metadata", "uid"}));
    applied_.erase(uid);
    written_.erase(uid);
  });
}

Answer<Tree> FakeApiServer::create(FakeTable& table, std::string_view ns, json::object object, const Writer& writer) {
  const Stamp stamp{format_time(store_.clock().wall()), store_.new_uid(), store_.new_suffix()};
  KUBE_TRYV(prepare_create(table.kind, ns, object, stamp));
  const ObjectKey key{std::string(ns), std::string(string_at(object, {"metadata", "name"}))};
  if (table.objects.contains(key)) return refuse::already_exists(table.kind.group, table.kind.plural, key.name);
  KUBE_TRYV(review({table.kind, {}, key, nullptr, object, writer.actor}));
  if (writer.dry_run) return std::make_shared<const json::object>(std::move(object));
  return store_.put(table, std::move(object), writer.actor);
}

Answer<Tree> FakeApiServer::replace(const Place& place, json::object next, const Writer& writer) {
  const auto& [table, key, subresource] = place;
  const auto found = table.objects.find(key);
  if (found == table.objects.end()) return refuse::not_found(table.kind.group, table.kind.plural, key.name);
  const Tree before = found->second;
  KUBE_TRYV(prepare_update(table.kind, subresource, *before, next));
  // A write that changes nothing leaves the version as it is, and no watch hears of it.
  if (next == *before && !is_gone_by(next)) return before;
  KUBE_TRYV(review({table.kind, subresource, key, before.get(), next, writer.actor}));
  if (writer.dry_run) return std::make_shared<const json::object>(std::move(next));
  if (!is_gone_by(next)) {
    note_writer(next, subresource, writer);
    return store_.put(table, std::move(next), writer.actor);
  }
  // The last finalizer went. Watches see the object one last time, in its last state.
  if (next != *before) found->second = std::make_shared<const json::object>(std::move(next));
  return store_.erase(table, key, writer.actor);
}

Answer<> FakeApiServer::review(const FakeReview& asked) const {
  if (!manners_.admission) return {};
  if (auto refusal = manners_.admission(asked)) return std::unexpected(std::move(*refusal));
  return {};
}

void FakeApiServer::note_writer(const json::object& stored, std::string_view subresource, const Writer& writer) {
  if (!manners_.manager_times) return;
  const std::string manager(writer.manager.empty() ? writer.actor : writer.manager);
  written_[std::string(string_at(stored, {"metadata", "uid"}))][manager + "/" + std::string(subresource)] =
      format_time(store_.clock().wall());
}

Answer<Tree> FakeApiServer::create(const Resource& resource, json::object object, std::string_view actor) {
  const std::string ns(string_at(object, {"metadata", "namespace"}));
  FakeTable& table = store_.table(resource);
  if (!table.is_served) return refuse::no_such_path();
  return create(table, ns, std::move(object), {.actor = actor});
}

Answer<Tree> FakeApiServer::update(const FakePath& path, const std::function<void(json::object&)>& change,
                                   std::string_view actor) {
  FakeTable& table = store_.table(path.resource);
  const auto found = table.objects.find(path.key);
  if (found == table.objects.end()) return refuse::not_found(table.kind.group, table.kind.plural, path.key.name);
  json::object next = *found->second;
  change(next);
  return replace({table, path.key, path.subresource}, std::move(next), {.actor = actor});
}

Answer<Tree> FakeApiServer::remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options,
                                   std::string_view actor) {
  return remove(store_.table(resource), key, options, actor);
}

Tree FakeApiServer::get(const Resource& resource, const ObjectKey& key) {
  const FakeTable& table = store_.table(resource);
  const auto found = table.objects.find(key);
  return found == table.objects.end() ? nullptr : found->second;
}

std::vector<Tree> FakeApiServer::list(const Resource& resource, std::string_view ns) {
  std::vector<Tree> objects;
  for (const auto& [key, object] : store_.table(resource).objects)
    if (ns.empty() || key.ns == ns) objects.push_back(object);
  return objects;
}

}  // namespace kube::testing
