// The addresses that providers give to copies of Services and Ingresses in the simulation of reflection.
#include "core/common/meta.hpp"
#include "core/reflection/remote_addresses.hpp"
#include "faults.hpp"
#include "liqo/api/annotations.hpp"
#include "reflection_world.hpp"

namespace liqo::sim {

using core::reflection::RemoteAddresses;
using kube::Object;

namespace {

constexpr std::string_view kinds_of_doors[] = {"Service", "Ingress"};

/// Some addresses, with repetitions and in any order, and some that are none.
json::array draw_addresses(kube::Random& random) {
  constexpr std::string_view hosts[] = {"a.example", "b.example", "no address"};
  json::array drawn;
  for (auto left = random.between(0, 4); left > 0; --left)
    if (random.chance(0.7))
      drawn.push_back(json::object{{"ip", "198.51.100." + std::to_string(random.between(1, 4))}});
    else
      drawn.push_back(json::object{{"hostname", hosts[random.between(0, 2)]}});
  return drawn;
}

std::string_view shown_of(const json::object& local) {
  return kube::string_at(local, {"metadata", "annotations", api::annotations::remote_addresses});
}

}  // namespace

void ReflectionWorld::give_addresses() {
  Cluster& provider = any_provider();
  const core::reflection::ReflectedKind& kind =
      *core::reflection::find_reflected_kind(kinds_of_doors[random_.between(0, 1)]);
  const Tree copy = any_copy(provider, kind);
  if (!copy) return;
  json::array drawn = draw_addresses(random_);
  note("the copy " + std::string(name_of(*copy)) + " gets the addresses " + json::serialize(drawn) + " in " +
       provider.id);
  (void)provider.server.update(
      {kind.copies(), key_of(*copy), "status"},
      [&](json::object& next) {
        kube::ensure_object(kube::ensure_object(next, "status"), "loadBalancer")["ingress"] = std::move(drawn);
      },
      reflection_stranger);
}

std::string ReflectionWorld::compare_addresses() {
  for (const std::string_view name : kinds_of_doors) {
    const core::reflection::ReflectedKind& kind = *core::reflection::find_reflected_kind(name);
    for (const Tree& local : home_.server.list(kind.resource, home_namespace)) {
      RemoteAddresses wanted;
      for (const auto& provider : providers_) {
        const core::ClusterPair clusters{.local = home_.id, .remote = provider->id};
        core::ForgingContext forging;
        forging.clusters = clusters;
        const Tree there =
            provider->server.get(kind.copies(), {twin_namespace(home_.id), std::string(name_of(*local))});
        if (there && core::is_reflected(Object(*there), clusters) && kind.no_copy(Object(*there), forging).empty())
          wanted.set(provider->id, core::reflection::addresses_given(Object(*there)));
      }
      if (RemoteAddresses::read(shown_of(*local)).entries() != wanted.entries())
        return "addresses of " + std::string(name) + " " + std::string(name_of(*local)) + " are shown as \"" +
               std::string(shown_of(*local)) + "\", not \"" + wanted.text() + "\"";
    }
  }
  return "";
}

}  // namespace liqo::sim
