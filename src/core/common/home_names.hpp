// Names of Services at home in pods at a provider, such as `db.shop` if the twin of namespace `shop` is `shop-rome`: in
// which zone the provider's name server knows them, and what is reported where it does not.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/json.hpp"

namespace liqo::core {

/// The zone of the names, in a domain that is reserved for private use. Names of cluster rome are under
/// `svc.rome.home.liqo.internal` and `rome.home.liqo.internal`.
inline constexpr std::string_view home_zone = "home.liqo.internal";
/// The name that resolves if the name server has the lines of `liqoctl enable home-names`, and one that does not
/// resolve then either: a name server that has an address for everything resolves both.
inline constexpr std::string_view home_probe = "probe.home.liqo.internal", home_absence = "absent.home.liqo.internal";

/// The name that a twin has by the strategy DefaultName, which is the only one that the zone leads to.
std::string default_twin_name(std::string_view ns, std::string_view consumer);

/// Whether pods on a virtual node with these labels resolve names with the names that namespaces have at home. The
/// provider says so; one that lies harms only the pods that it runs.
bool knows_names_of_home(const kube::json::object& node_labels);

/// The twin of a namespace at one provider.
struct TwinAtProvider {
  std::string_view ns, twin;  ///< the names of the namespace, and of its twin
  std::string_view home;      ///< this cluster
  std::string_view provider;
  bool knows_names = false;  ///< knows_names_of_home()
  /// The provider's words about names of this namespace that lead elsewhere there; cleaned before they are shown.
  std::string_view words = {};
};

/// The sentence of the condition and of the Event at home if pods at that provider do not resolve names with this
/// namespace in them, or get addresses of another one's Services; "" if they resolve as at home.
std::string names_not_resolved(const TwinAtProvider& twin);

/// Whether a sentence of names_not_resolved() says that pods at that provider resolve no names with the namespace in
/// them.
bool says_unresolved(std::string_view words);

/// The sentence of an Event for the moment from which they do: programs that keep their own name in their data do not
/// find it by another one.
std::string names_resolved_now(std::string_view ns, std::string_view twin, std::string_view provider);

/// The sentence of a provider that has a namespace of the consumer's name for one, as no twin of that consumer: its
/// Services are found first.
std::string names_found_first(std::string_view ns, std::string_view provider);

}  // namespace liqo::core
