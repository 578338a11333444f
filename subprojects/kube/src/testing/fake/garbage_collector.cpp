#include "kube/testing/fake/garbage_collector.hpp"

#include <algorithm>

#include "semantics.hpp"

namespace kube::testing {

namespace {

constexpr std::string_view actor = "garbage-collector";

bool has_finalizer(const json::object& object, std::string_view finalizer) {
  for (const json::value& have : array_at(object, {"metadata", "finalizers"}))
    if (have.is_string() && have.get_string() == finalizer) return true;
  return false;
}

std::string uid_of(const json::object& object) { return std::string(string_at(object, {"metadata", "uid"})); }

}  // namespace

FakeGarbageCollector::FakeGarbageCollector(Simulator& simulator, FakeApiServer& server, Duration delay_low,
                                           Duration delay_high)
    : simulator_(simulator),
      server_(server),
      delay_low_(delay_low),
      delay_high_(delay_high),
      random_(simulator.random().next()) {
  server_.store().on_change([this](const FakeChange& change) { seen(change); });
}

void FakeGarbageCollector::seen(const FakeChange& change) {
  const Place place{change.kind->plural + "." + change.kind->group + "/" + change.kind->version, change.key};
  if (!tables_.contains(place.first))
    tables_[place.first] = server_.store().find(change.kind->group, change.kind->version, change.kind->plural);
  const std::string uid = uid_of(*change.after);
  if (change.before)
    for (const json::value& owner : array_at(*change.before, {"metadata", "ownerReferences"}))
      dependents_[std::string(string_at(owner, {"uid"}))].erase(place);
  if (change.type == ChangeType::deleted) {
    live_.erase(uid);
    for (const Place& dependent : dependents_[uid]) attend_later(dependent);
    for (const json::value& owner : array_at(*change.after, {"metadata", "ownerReferences"}))
      if (const auto found = live_.find(std::string(string_at(owner, {"uid"}))); found != live_.end())
        attend_later(found->second);
    return;
  }
  live_[uid] = place;
  bool dangling = false;
  for (const json::value& owner : array_at(*change.after, {"metadata", "ownerReferences"})) {
    const std::string owner_uid(string_at(owner, {"uid"}));
    dependents_[owner_uid].insert(place);
    dangling = dangling || !live_.contains(owner_uid);
  }
  const bool waits = is_deleting(*change.after) &&
                     (has_finalizer(*change.after, "foregroundDeletion") || has_finalizer(*change.after, "orphan"));
  if (dangling || waits) attend_later(place);
}

void FakeGarbageCollector::attend_later(const Place& place) {
  const Duration delay = random_.between(delay_low_, delay_high_);
  simulator_.clock().call_in(delay, [this, place] { attend(place); });
}

const json::object* FakeGarbageCollector::object_at_place(const Place& place) const {
  const FakeTable& table = *tables_.at(place.first);
  const auto found = table.objects.find(place.second);
  return found == table.objects.end() ? nullptr : found->second.get();
}

Resource FakeGarbageCollector::resource_of(const Place& place) const {
  const FakeKind& kind = tables_.at(place.first)->kind;
  return {kind.group, kind.version, kind.plural, kind.kind, kind.namespaced};
}

void FakeGarbageCollector::attend(const Place& place) {
  const json::object* object = object_at_place(place);
  if (!object) return;
  if (is_deleting(*object)) {
    if (has_finalizer(*object, "orphan")) return orphan_dependents(place, *object);
    if (has_finalizer(*object, "foregroundDeletion")) finish_foreground(place, *object);
    return;
  }
  const json::array& owners = array_at(*object, {"metadata", "ownerReferences"});
  json::array alive;
  for (const json::value& owner : owners)
    if (live_.contains(std::string(string_at(owner, {"uid"})))) alive.push_back(owner);
  if (owners.empty() || alive.size() == owners.size()) return;
  if (alive.empty()) {
    DeleteOptions options;
    options.uid = uid_of(*object);
    options.propagation = Propagation::background;
    static_cast<void>(server_.remove(resource_of(place), place.second, options, actor));
    return;
  }
  static_cast<void>(server_.update(
      {resource_of(place), place.second},
      [&alive](json::object& next) { next["metadata"].as_object()["ownerReferences"] = alive; }, actor));
}

void FakeGarbageCollector::finish_foreground(const Place& place, const json::object& object) {
  const std::set<Place> dependents = dependents_[uid_of(object)];
  bool blocked = false;
  for (const Place& dependent : dependents) {
    const json::object* child = object_at_place(dependent);
    if (!child) continue;
    for (const json::value& owner : array_at(*child, {"metadata", "ownerReferences"}))
      blocked = blocked || (string_at(owner, {"uid"}) == uid_of(object) && bool_at(owner, {"blockOwnerDeletion"}));
    if (is_deleting(*child)) continue;
    DeleteOptions options;
    options.uid = uid_of(*child);
    static_cast<void>(server_.remove(resource_of(dependent), dependent.second, options, actor));
  }
  if (!blocked) drop_finalizer(place, "foregroundDeletion");
}

void FakeGarbageCollector::orphan_dependents(const Place& place, const json::object& object) {
  const std::string uid = uid_of(object);
  const std::set<Place> dependents = dependents_[uid];
  for (const Place& dependent : dependents)
    static_cast<void>(server_.update(
        {resource_of(dependent), dependent.second},
        [&uid](json::object& next) {
          json::array kept;
          for (const json::value& owner : array_at(next, {"metadata", "ownerReferences"}))
            if (string_at(owner, {"uid"}) != uid) kept.push_back(owner);
          next["metadata"].as_object()["ownerReferences"] = std::move(kept);
        },
        actor));
  drop_finalizer(place, "orphan");
}

void FakeGarbageCollector::drop_finalizer(const Place& place, std::string_view finalizer) {
  static_cast<void>(server_.update(
      {resource_of(place), place.second},
      [finalizer](json::object& next) {
        json::array kept;
        for (const json::value& have : array_at(next, {"metadata", "finalizers"}))
          if (!have.is_string() || have.get_string() != finalizer) kept.push_back(have);
        next["metadata"].as_object()["finalizers"] = std::move(kept);
      },
      actor));
}

}  // namespace kube::testing
