// Lists objects: the kinds that `get` and `describe` know, and their columns. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "text/palette.hpp"
#include "text/table.hpp"

namespace liqoctl::model {

/// A kind that can be listed.
struct ListedKind {
  kube::Resource resource;
  std::string name;                  ///< as it is typed: "resourceslice"
  std::vector<std::string> aliases;  ///< "rs"
  std::string what;                  ///< for help: "slices: capacity asked for or granted"
  std::string plural;                ///< in sentences: "resource slices"
};
const std::vector<ListedKind>& listed_kinds();

/// Adds to each Quota the state of the Tenant in its namespace: its consumer, and whether it is drained.
void add_consumers(std::vector<kube::Object>& quotas, const std::vector<kube::Object>& tenants);

/// A table of objects of one kind, sorted by namespace and name. `wide` adds columns. Tenants must have their policies
/// (add_policies()), and Quotas their consumers (add_consumers()).
std::string listing(const ListedKind& kind, const std::vector<kube::Object>& objects, bool wide, kube::WallTime now);

/// One object in full: identity, labels, spec, status, conditions, then the Events about it. A Tenant must have its
/// policy (add_policies()). Nothing is cut. Of keys and certificates only the size is shown.
std::string description(const kube::Object& object, const std::vector<kube::Object>& events, kube::WallTime now,
                        const text::Palette& palette);

/// The object and its Events, the oldest first, in the form of `-o`: {"object": {…}, "events": […]}. If it has a
/// "policy", the text of that is added.
kube::json::object forge_description(const kube::Object& object, const std::vector<kube::Object>& events,
                                     std::string_view policy = {});

}  // namespace liqoctl::model
