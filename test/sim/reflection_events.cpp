// Events about copies at the providers of the simulation of reflection, and which of them are reported at home.
#include <algorithm>

#include "core/common/meta.hpp"
#include "liqo/api/reasons.hpp"
#include "reflection_world.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::Object;
namespace resources = kube::resources;

namespace {

/// The time within which a warning comes home while nothing fails, and the time over which warnings are counted: within
/// that, no more than the numbers below are reported for one object and for one twin.
constexpr kube::Duration home_within = 35s, counted_for = 11min;
constexpr std::ptrdiff_t max_of_object = 4, max_of_twin = 60;

}  // namespace

void ReflectionWorld::say(Cluster& provider, const core::reflection::ReflectedKind& kind, const json::object& copy,
                          std::string_view type) {
  const core::ForgingContext forging{.clusters = {.local = home_.id, .remote = provider.id}};
  Said said{.provider = provider.id,
            .type = std::string(type),
            .words = "trouble-" + std::to_string(next_value_++),
            .uid = std::string(uid_of(copy)),
            .kind = std::string(kind.resource.kind),
            .name = kind.local_name(name_of(copy), forging),
            .at = simulator_.clock().now()};
  const std::string now = kube::format_time(simulator_.clock().wall());
  note("somebody in " + provider.id + " says " + said.words + " of " + std::string(name_of(copy)) + ", " + said.type);
  (void)provider.server.create(
      resources::events,
      {{"metadata", json::object{{"name", said.words}, {"namespace", twin_namespace(home_.id)}}},
       {"involvedObject", json::object{{"kind", kind.copies().kind}, {"name", name_of(copy)}, {"uid", said.uid}}},
       {"type", type},
       {"reason", "Trouble"},
       {"message", said.words},
       {"lastTimestamp", now}},
      reflection_stranger);
  said_.push_back(std::move(said));
}

void ReflectionWorld::say_something() {
  Cluster& provider = any_provider();
  const core::reflection::ReflectedKind& kind = kind_of(any_kind());
  if (const Tree copy = any_copy(provider, kind))
    say(provider, kind, *copy, random_.chance(0.7) ? "Warning" : "Normal");
}

void ReflectionWorld::check_events() {
  const std::size_t before = said_.size();
  const kube::TimePoint since = simulator_.clock().now() - counted_for;
  for (const auto& provider : providers_) {
    const auto count = [&](std::string_view uid) {
      return std::ranges::count_if(said_, [&](const Said& said) {
        return said.provider == provider->id && said.at > since && (uid.empty() || said.uid == uid);
      });
    };
    const core::ForgingContext forging{.clusters = {.local = home_.id, .remote = provider->id}};
    for (const DrawnKind& drawn : drawn_kinds()) {
      const core::reflection::ReflectedKind& kind = kind_of(drawn);
      // The provider's liqod reports about ShadowEndpointSlices itself.
      if (!provider->server.serves(kind.copies()) || drawn.name == "EndpointSlice") continue;
      const Tree copy = any_copy(*provider, kind);
      if (!copy || !core::is_reflected(Object(*copy), forging.clusters) ||
          !kind.no_copy(Object(*copy), forging).empty() || count(uid_of(*copy)) >= max_of_object ||
          count("") >= max_of_twin)
        continue;
      say(*provider, kind, *copy, "Warning");
      say(*provider, kind, *copy, "Normal");
    }
  }
  simulator_.run_for(home_within);
  const auto events = home_.server.list(resources::events, home_namespace);
  const auto told = [&](const Said& said) {
    return std::ranges::any_of(events, [&](const Tree& event) {
      return kube::string_at(*event, {"reason"}) == api::reasons::remote_warning &&
             kube::string_at(*event, {"message"}) ==
                 "cluster " + said.provider + " warns of its copy: " + said.words + " (Trouble)" &&
             kube::string_at(*event, {"involvedObject", "kind"}) == said.kind &&
             kube::string_at(*event, {"involvedObject", "name"}) == said.name;
    });
  };
  for (std::size_t i = 0; i < said_.size(); ++i)
    if (said_[i].type == "Normal" ? told(said_[i]) : i >= before && !told(said_[i]))
      violations_.push_back({"what a provider warns of is told at home, and nothing else",
                             said_[i].words + " about " + said_[i].kind + " " + said_[i].name});
  // Each Event at home repeats one of a provider.
  for (const Tree& event : events) {
    const std::string_view message = kube::string_at(*event, {"message"});
    if (message.contains("trouble-") && std::ranges::none_of(said_, [&](const Said& said) {
          return said.type == "Warning" && message.contains(said.words + " (") &&
                 kube::string_at(*event, {"involvedObject", "name"}) == said.name;
        }))
      violations_.push_back({"what a provider warns of is told at home, and nothing else", std::string(message)});
  }
}

}  // namespace liqo::sim
