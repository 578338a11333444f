// Compares the actions of liqod at a provider with the objects there and at home at each moment.
#include <algorithm>

#include "core/reflection/references.hpp"
#include "endpoints_at_home.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "reflection_states.hpp"
#include "reflection_world.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using core::reflection::ReflectedKind;
using kube::Object;
using kube::TimePoint;
using kube::testing::ChangeType;
using kube::testing::FakeChange;
namespace resources = kube::resources;

namespace {

/// A copy stays for five minutes after the last reference, and a write may arrive later.
constexpr kube::Duration reference_memory = 7min;
/// The greatest age of the state of home that liqod has seen when it makes a copy.
constexpr kube::Duration max_sight_of_home = 1min;

bool is_copy(const json::object& object) {
  return !kube::string_at(object, {"metadata", "labels", api::labels::reflection_origin}).empty();
}

/// The parts of an object that cannot be changed in place, "" if they are not known.
std::string shape_of(const json::object& object) {
  if (kube::bool_at(object, {"immutable"})) return "";
  return "type " + std::string(kube::string_at(object, {"type"})) +
         (kube::string_at(object, {"spec", "clusterIP"}) == "None" ? " headless" : " whole") +
         std::string(kube::string_at(object, {"addressType"})) +
         std::string(kube::string_at(object, {"spec", "template", "addressType"}));
}

class ReflectionCheck {
 public:
  ReflectionCheck(Cluster& home, Cluster& provider, const ReflectedKind& kind, const std::vector<TimePoint>& ends,
                  std::vector<Violation>& found)
      : kind_(kind), provider_(provider), ends_(ends), found_(found), twin_(twin_namespace(home.id)) {
    sources_ = read_states(home, kind.resource, home_namespace);
    forging_.clusters = {.local = home.id, .remote = provider.id};
    if (kind.selected_by) services_ = read_states(home, resources::services, home_namespace);
    if (!kind.referred_only) return;
    for (const auto& [name, states] : read_states(home, resources::pods, home_namespace))
      for (const State& state : states)
        if (state.tree && kube::string_at(*state.tree, {"spec", "nodeName"}).starts_with(provider.id))
          add_references(state, name, core::reflection::secrets_of_pod(Object(*state.tree)));
    for (const auto& [name, states] : read_states(home, api::kinds::ingresses, home_namespace))
      for (const State& state : states)
        if (state.tree && is_selected(*core::reflection::find_reflected_kind("Ingress"), *state.tree, nullptr))
          add_references(state, name, core::reflection::secrets_of_ingress(Object(*state.tree)));
  }

  void run() {
    for (const FakeChange& change : provider_.server.store().table(kind_.copies()).log) {
      if (change.key.ns != twin_) continue;
      const std::string uid(uid_of(*change.after));
      if (change.type == ChangeType::added) made_at_[uid] = change.at;
      // Secrets with tokens of pods are not reflected objects.
      if (!kind_.no_copy(Object(*change.after), forging_).empty()) continue;
      const bool is_ours = change.actor.starts_with("liqod-");
      const bool deletes = change.type == ChangeType::deleted
                               ? !is_deleting(*change.before)
                               : change.before && is_deleting(*change.after) && !is_deleting(*change.before);
      if (change.type == ChangeType::added && !is_ours && !is_copy(*change.after)) strangers_[uid] = change.after;
      if (const auto theirs = strangers_.find(uid); theirs != strangers_.end())
        see_stranger(change, uid, theirs->second, is_ours, deletes);
      else if (is_ours && deletes)
        see_removal(change, uid);
      else if (is_ours && change.type != ChangeType::deleted)
        see_copy(change);
    }
    for (const auto& [uid, changed] : changed_)
      violate("an object of somebody else is left as it is", "it stays changed", *changed);
  }

 private:
  void add_references(const State& state, const std::string& referrer, const std::vector<std::string>& secrets) {
    for (const std::string& secret : secrets) {
      std::vector<Reference>& known = referred_[secret];
      // The referrer may have changed in other fields: then the reference goes on.
      if (!known.empty() && known.back().referrer == referrer && known.back().until == state.from)
        known.back().until = state.until;
      else
        known.push_back({state.from, state.until, referrer});
    }
  }

  void violate(std::string invariant, std::string what, const FakeChange& change) {
    found_.push_back({std::move(invariant), std::string(kind_.name) + " " + change.key.name + " in " + provider_.id +
                                                " at " + time_text(change.at) + " by " + change.actor + ": " +
                                                std::move(what)});
  }

  /// The contents of an object without the fields that its server keeps.
  static json::object contents_of(const json::object& object) {
    json::object contents = object;
    for (const char* field : {"resourceVersion", "generation"}) contents["metadata"].as_object().erase(field);
    return contents;
  }

  void see_stranger(const FakeChange& change, const std::string& uid, kube::testing::Tree& theirs, bool is_ours,
                    bool deletes) {
    const auto changed = changed_.find(uid);
    if (changed != changed_.end() && change.at - changed->second->at > max_give_back)
      violate("an object of somebody else is left as it is", "it was changed for long", *changed->second);
    if (is_ours && deletes) violate("an object of somebody else is left as it is", "it is deleted", change);
    if (change.type == ChangeType::deleted) {
      changed_.erase(uid);
      return;
    }
    if (!is_ours) {
      theirs = change.after;
      return;
    }
    const json::value now = contents_of(*change.after), before = contents_of(*theirs);
    if (core::reflection::is_equal(&now, &before)) {
      changed_.erase(uid);
    } else if (is_near_end(change.at)) {
      changed_.erase(uid);
      strangers_.erase(uid);
    } else {
      changed_.emplace(uid, &change);
    }
  }

  bool is_near_end(TimePoint at) const {
    return std::ranges::any_of(ends_,
                               [at](TimePoint end) { return end - at < max_give_back && at - end < max_give_back; });
  }

  /// A copy may be removed only if its object is gone or is not to be reflected, if nothing refers to it, or to be
  /// replaced.
  void see_removal(const FakeChange& change, const std::string& uid) {
    const TimePoint from = made_at_[uid] - max_sight_of_home;
    const std::string local = kind_.local_name(change.key.name, forging_);
    const auto source = sources_.find(local);
    if (source == sources_.end()) return;
    const std::string shape = shape_of(*change.before);
    bool is_referred = true;
    for (const State& state : source->second) {
      if (!overlaps(state, from, change.at)) continue;
      if (!state.tree || shape_of(*state.tree) != shape || shape.empty() ||
          !std::ranges::all_of(selections(state, from, change.at), std::identity()))
        return;
      const Object object(*state.tree);
      // It goes with the last pod that names it, whatever else refers to it.
      if (kind_.needs_pod && kind_.needs_pod(object)) return;
      is_referred = is_referred && core::reflection::is_allowed(object);
    }
    if (kind_.referred_only && !is_referred && std::ranges::none_of(referred_[local], [&](const Reference& reference) {
          return reference.from <= from && reference.until >= change.at;
        }))
      return;
    violate("no copy is deleted that is wanted", "its object was there all the time", change);
  }

  /// A copy is written only of an object that existed at home, and was to be reflected, a short time ago.
  void see_copy(const FakeChange& change) {
    const std::string local = kind_.local_name(change.key.name, forging_);
    const TimePoint from = change.at - reference_memory;
    bool is_known = false, is_wanted = false;
    for (const State& state : sources_[local])
      if (state.tree && overlaps(state, from, change.at)) {
        const bool is_selected = std::ranges::any_of(selections(state, from, change.at), std::identity());
        is_known = is_known || is_selected;
        is_wanted = is_wanted || (is_selected && core::reflection::is_allowed(Object(*state.tree)));
      }
    if (!is_known) return violate("nothing is sent that is not reflected", "its object was not to be", change);
    if (kind_.referred_only && !is_wanted && std::ranges::none_of(referred_[local], [&](const Reference& reference) {
          return reference.from <= change.at && reference.until >= from;
        }))
      violate("nothing is sent that is not reflected", "nothing refers to it", change);
  }

  /// Whether an object in this state was to be reflected, at each moment between `from` and `until`.
  std::vector<bool> selections(const State& state, TimePoint from, TimePoint until) const {
    const auto of =
        services_.find(std::string(kube::string_at(*state.tree, {"metadata", "labels", api::labels::service_name})));
    if (of == services_.end()) return {is_selected(kind_, *state.tree, nullptr)};
    std::vector<bool> found;
    for (const State& service : of->second)
      // liqod may know an older state of the Service than of the object.
      if (overlaps(service, std::max(from, state.from - max_sight_of_home), std::min(until, state.until)))
        found.push_back(is_selected(kind_, *state.tree, service.tree));
    return found;
  }
  bool is_selected(const ReflectedKind& kind, const json::object& local, kube::testing::Tree service) const {
    const EndpointsOfThen endpoints(std::move(service));
    core::ForgingContext forging = forging_;
    forging.endpoints = &endpoints;
    return core::reflection::wanted_copy({.kind = kind,
                                          .policy = core::reflection::SelectionPolicy::deny_list,
                                          .ctx = forging,
                                          .named_by_pod = true},
                                         Object(local), twin_)
        .has_value();
  }

  struct Reference {
    TimePoint from, until;
    std::string referrer;
  };

  const ReflectedKind& kind_;
  Cluster& provider_;
  const std::vector<TimePoint>& ends_;
  std::vector<Violation>& found_;
  std::string twin_;
  core::ForgingContext forging_;
  std::map<std::string, std::vector<State>> sources_, services_;
  std::map<std::string, std::vector<Reference>> referred_;  ///< by name of the Secret
  std::map<std::string, TimePoint> made_at_;                ///< by UID of the copy
  std::map<std::string, kube::testing::Tree> strangers_;    ///< as their owners have made them, by UID
  std::map<std::string, const FakeChange*> changed_;        ///< those that are not so, since when
};

}  // namespace

void check_reflection_history(Cluster& home, Cluster& provider, const std::vector<TimePoint>& ends,
                              std::vector<Violation>& found) {
  for (const DrawnKind& drawn : drawn_kinds()) ReflectionCheck(home, provider, kind_of(drawn), ends, found).run();
}

}  // namespace liqo::sim
