// The custom resource in the simulation of reflection, and its status, which comes home.
#include <algorithm>

#include "core/common/meta.hpp"
#include "faults.hpp"
#include "reflection_states.hpp"
#include "reflection_world.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::TimePoint;
using kube::testing::FakeChange;

namespace {

/// The greatest age of the state of a copy when it arrives at home.
constexpr kube::Duration max_sight_of_status = 2min;
/// How long another provider may be the first that reflects: after a process, its leadership or its session began
/// again, after a provider was unreachable, and after a definition was created or removed. A kind that was found in
/// part is looked for again after 30 s.
constexpr kube::Duration beginning = 40s, finding = 3min;

std::int64_t generation_of(const json::object& object) { return kube::int_at(object, {"metadata", "generation"}); }

std::int64_t seen_by(const json::object& status) { return kube::int_at(status, {"observedGeneration"}, -1); }

/// Whether the copy has all of the spec at home; others may have added to it.
bool has_spec_of(const json::object& copy, const json::object& local) {
  return std::ranges::all_of(kube::object_at(local, {"spec"}), [&](const auto& entry) {
    const json::value* value = kube::object_at(copy, {"spec"}).if_contains(entry.key());
    return value && *value == entry.value();
  });
}

/// The status of an object, or null.
json::value status_of(const json::object& object) {
  const json::value* status = object.if_contains("status");
  return status ? *status : json::value();
}

json::object draw_status(kube::Random& random, std::string phase, std::int64_t generation) {
  json::object status{{"phase", std::move(phase)}};
  if (random.chance(0.9)) status["observedGeneration"] = generation;
  if (random.chance(0.3))
    status["conditions"] =
        json::array{json::object{{"type", "Ready"}, {"status", "True"}, {"observedGeneration", generation}}};
  return status;
}

/// The status that home should have if the copy has this one.
json::value at_home(json::value status, const json::object& copy, const json::object& local) {
  if (!status.is_object()) return status;
  const auto count = [&](json::object& part) {
    if (json::value* seen = part.if_contains("observedGeneration"))
      *seen = generation_of(local) - (*seen == json::value(generation_of(copy)) ? 0 : 1);
  };
  count(status.get_object());
  if (json::value* conditions = status.get_object().if_contains("conditions"))
    for (json::value& condition : conditions->as_array()) count(condition.as_object());
  return status;
}

class StatusCheck {
 public:
  StatusCheck(Cluster& home, const std::vector<Cluster*>& providers, const Interruptions& times,
              std::vector<Violation>& found)
      : home_(home), times_(times), found_(found) {
    for (Cluster* provider : providers)
      copies_[provider->id] = read_states(*provider, widgets().resource, twin_namespace(home.id));
    first_ = providers.front()->id;
  }

  void run() {
    for (const FakeChange& change : home_.server.store().table(widgets().resource).log)
      if (change.actor.starts_with("liqod-")) see(change);
  }

 private:
  void violate(std::string invariant, const FakeChange& change) {
    found_.push_back({std::move(invariant), "Widget " + change.key.name + " at home at " + time_text(change.at) +
                                                " by " + change.actor + ": " + json::serialize(*change.after)});
  }

  static json::object rest_of(json::object object) {
    object.erase("status");
    object["metadata"].as_object().erase("resourceVersion");
    return object;
  }

  void see(const FakeChange& change) {
    if (change.type != kube::testing::ChangeType::modified || rest_of(*change.before) != rest_of(*change.after))
      return violate("at home nothing but the status is written", change);
    const auto is_after = [&](const std::vector<TimePoint>& moments, kube::Duration length) {
      return std::ranges::any_of(moments,
                                 [&](TimePoint moment) { return moment <= change.at && change.at - moment < length; });
    };
    const bool is_cut_off = std::ranges::any_of(times_.outages, [&](const auto& outage) {
      return outage.first <= change.at && change.at - outage.second < beginning;
    });
    const bool is_unsettled = is_cut_off || is_after(times_.ends, beginning) || is_after(times_.starts, beginning) ||
                              is_after(times_.leaders, beginning) || is_after(times_.definitions, finding);
    const json::value status = status_of(*change.after);
    bool was_said = false, is_first = false, was_seen = false;
    for (const auto& [provider, copies] : copies_) {
      const auto states = copies.find(change.key.name);
      if (states == copies.end()) continue;
      for (const State& state : states->second) {
        if (!state.tree || !overlaps(state, change.at - max_sight_of_status, change.at)) continue;
        const json::value said = status_of(*state.tree);
        if (said.is_object() != status.is_object()) continue;
        if (said.is_object() && said.at("phase") != status.at("phase")) continue;
        was_said = true;
        is_first = is_first || provider == first_;
        was_seen = was_seen || (said.is_object() && seen_by(said.get_object()) == generation_of(*state.tree) &&
                                has_spec_of(*state.tree, *change.after));
      }
    }
    if (!was_said) return violate("a status at home is one that a copy has had", change);
    if (!is_first && !is_unsettled) violate("of several providers the first one says the status", change);
    if (status.is_object() && seen_by(status.get_object()) == generation_of(*change.after) && !was_seen)
      violate("what is said to have been seen was seen", change);
  }

  Cluster& home_;
  const Interruptions& times_;
  std::vector<Violation>& found_;
  std::map<std::string, std::map<std::string, std::vector<State>>> copies_;  ///< by provider and name
  std::string first_;
};

}  // namespace

const core::reflection::CustomResource& widget_resource() {
  static const core::reflection::CustomResource resource{
      .plural = "widgets", .group = "example.org", .brings_status = true};
  return resource;
}

const core::reflection::ReflectedKind& widgets() {
  return core::reflection::custom_kind(widget_resource(), "v1", "Widget");
}

const core::reflection::ReflectedKind& kind_of(const DrawnKind& drawn) {
  const core::reflection::ReflectedKind* built_in = core::reflection::find_reflected_kind(drawn.name);
  return built_in ? *built_in : widgets();
}

void ReflectionWorld::report(Cluster& provider, const json::object& seen) {
  const Tree now = provider.server.get(widgets().resource, key_of(seen));
  if (!now || uid_of(*now) != uid_of(seen)) return;
  json::object status = draw_status(random_, provider.id + "-" + std::to_string(next_value_++), generation_of(seen));
  const bool takes_back = random_.chance(0.1);
  note("the operator in " + provider.id + " says of " + std::string(name_of(seen)) + " " +
       (takes_back ? "nothing any more" : json::serialize(status)));
  (void)provider.server.update(
      {widgets().resource, key_of(seen), "status"},
      [&](json::object& next) {
        next.erase("status");
        if (!takes_back) next["status"] = std::move(status);
      },
      "operator");
}

asio::awaitable<void> ReflectionWorld::report_later(Cluster* provider, Tree seen) {
  co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(0, 40'000)));
  report(*provider, *seen);
}

void ReflectionWorld::operate() {
  Cluster& provider = any_provider();
  const Tree copy = any_copy(provider, widgets());
  if (!copy) return;
  if (random_.chance(0.6)) return report(provider, *copy);
  group_.spawn(report_later(&provider, copy));
}

void ReflectionWorld::set_status_at_home() {
  const Tree local = draw_tree(random_, home_.server.list(widgets().resource, home_namespace));
  if (!local) return;
  note("somebody at home writes the status of " + std::string(name_of(*local)));
  json::object status = draw_status(random_, "home-" + std::to_string(next_value_++), generation_of(*local));
  (void)home_.server.update(
      {widgets().resource, key_of(*local), "status"}, [&](json::object& next) { next["status"] = std::move(status); },
      reflection_user);
}

void ReflectionWorld::delete_definition() {
  const auto place = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(providers_.size())));
  undefine(place == 0 ? home_ : *providers_[place - 1]);
}

void ReflectionWorld::undefine(Cluster& cluster) {
  if (!cluster.server.serves(widgets().resource)) return;
  note("the definition of widgets is deleted in " + cluster.id);
  note_definition();
  cluster.server.store().withdraw(widgets().resource, reflection_stranger);
  group_.spawn(define_later(&cluster));
}

asio::awaitable<void> ReflectionWorld::define_later(Cluster* cluster) {
  co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(1000, 60'000)));
  note("the definition of widgets is there again in " + cluster->id);
  note_definition();
  cluster->server.serve(widgets().resource);
}

std::vector<Cluster*> ReflectionWorld::defining() const {
  std::vector<Cluster*> found;
  for (const auto& provider : providers_)
    if (provider->server.serves(widgets().resource)) found.push_back(provider.get());
  return found;
}

std::string ReflectionWorld::compare_statuses() {
  Cluster& first = *defining().front();
  const core::ForgingContext forging{.clusters = {.local = home_.id, .remote = first.id}};
  for (const Tree& local : home_.server.list(widgets().resource, home_namespace)) {
    const Tree copy = first.server.get(widgets().resource, {twin_namespace(home_.id), std::string(name_of(*local))});
    if (!copy || !core::is_reflected(kube::Object(*copy), forging.clusters)) continue;
    const json::value wanted = at_home(status_of(*copy), *copy, *local);
    if (status_of(*local) != wanted)
      return "Widget " + std::string(name_of(*local)) + " has the status " + json::serialize(status_of(*local)) +
             " at home, wanted " + json::serialize(wanted);
  }
  return "";
}

void check_status_history(Cluster& home, const std::vector<Cluster*>& providers, const Interruptions& times,
                          std::vector<Violation>& found) {
  StatusCheck(home, providers, times, found).run();
}

}  // namespace liqo::sim
