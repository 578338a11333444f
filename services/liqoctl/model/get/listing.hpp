// How objects are listed: the kinds that `get` and `describe` know, and their columns. Pure.
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

/// Puts on each Quota what is shown of the Tenant in its namespace: its consumer, and that it is drained.
void add_consumers(std::vector<kube::Object>& quotas, const std::vector<kube::Object>& tenants);

/// A table of objects of one kind, sorted by namespace and name. `wide` adds columns. Tenants have their policies on
/// them (add_policies), and Quotas their consumers (add_consumers).
std::string listing(const ListedKind& kind, const std::vector<kube::Object>& objects, bool wide, kube::WallTime now);

/// One object in full (a Tenant as listing() has it): identity, labels, spec, status, conditions, then the Events about
/// it. Nothing is cut; keys and certificates are shown by their size only.
std::string description(const kube::Object& object, const std::vector<kube::Object>& events, kube::WallTime now,
                        const text::Palette& palette);

/// The object and its Events, the oldest first, as `-o` prints them: {"object": {…}, "events": […]}, with the text of
/// its "policy" where there is one.
kube::json::object forge_description(const kube::Object& object, const std::vector<kube::Object>& events,
                                     std::string_view policy = {});

}  // namespace liqoctl::model
