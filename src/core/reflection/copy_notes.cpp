#include "core/reflection/copy_notes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/reflection/narrowed.hpp"
#include "core/reflection/remote_addresses.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"

namespace liqo::core::reflection {
namespace {

using kube::string_at;

/// The beginning of each sentence.
std::string copy_in(const core::ForgingContext& ctx) { return "the copy in cluster " + ctx.clusters.remote; }

/// The IP families of a Service, each once. A provider can answer with other words.
std::vector<std::string> families_of(const kube::Object& service) {
  const std::vector<std::string> words = kube::strings_in(kube::array_at(service.spec(), {"ipFamilies"}));
  std::vector<std::string> families;
  for (const char* const family : {"IPv4", "IPv6"})
    if (std::ranges::find(words, family) != words.end()) families.emplace_back(family);
  return families;
}

/// A Service that prefers two families works with one.
std::string lacks_families(const kube::Object& local, const kube::Object& copy, const core::ForgingContext& ctx) {
  const std::vector<std::string> given = families_of(copy), wanted = families_of(local);
  std::vector<std::string> missing;
  std::ranges::set_difference(wanted, given, std::back_inserter(missing));
  if (given.empty() || missing.empty()) return {};
  const bool is_required = string_at(local.spec(), {"ipFamilyPolicy"}) == "RequireDualStack";
  if (missing.size() < wanted.size() && !is_required) return {};
  return copy_in(ctx) + " has only " + kube::join(given, " and ") + ", because that cluster gives it no " +
         kube::join(missing, " and ") + ": pods there reach no endpoint of " + kube::join(missing, " or ") + " by it" +
         (is_required ? "; only a cluster with two stacks has both"
                      : "; ipFamilyPolicy PreferDualStack asks for all that a cluster has");
}

std::string no_address_in(const core::ForgingContext& ctx) {
  return copy_in(ctx) + " has had no address for " +
         std::to_string(std::chrono::duration_cast<std::chrono::minutes>(address_patience).count()) + " minutes: ";
}

}  // namespace

std::vector<CopyNote> notes_on_service(const kube::Object& local, const kube::Object& copy,
                                       const core::ForgingContext& ctx) {
  std::vector<CopyNote> notes;
  if (std::string words = lacks_families(local, copy, ctx); !words.empty())
    notes.push_back({.about = "families", .words = std::move(words)});
  const std::string cluster = "cluster " + ctx.clusters.remote;
  if (string_at(copy.spec(), {"internalTrafficPolicy"}) == "Local")
    notes.push_back(
        {.about = "inside",
         .is_warning = false,
         .words = "a pod in " + cluster +
                  " reaches this Service only by pods on its own node there, and never by pods here, as "
                  "internalTrafficPolicy is Local: without such a pod its traffic is dropped, which Cluster "
                  "avoids"});
  if (is_exposed(copy) && string_at(copy.spec(), {"externalTrafficPolicy"}) == "Local")
    notes.push_back(
        {.about = "outside",
         .is_warning = false,
         .words = "what comes from outside to the copy in " + cluster +
                  " reaches only pods that run there, as externalTrafficPolicy is Local: if there is none, it "
                  "is dropped, which Cluster avoids"});
  return notes;
}

std::vector<CopyNote> notes_on_ingress(const kube::Object&, const kube::Object& copy, const core::ForgingContext& ctx) {
  std::vector<CopyNote> notes;
  if (string_at(copy.spec(), {"ingressClassName"}).empty())
    notes.push_back({.about = "class",
                     .words = copy_in(ctx) +
                              " has no class, because that cluster offers none and has no default one: perhaps no "
                              "controller there serves it; its administrator can offer a class (ingressClasses)"});
  return notes;
}

std::string unserved_service(const kube::Object& local, const kube::Object& copy, const core::ForgingContext& ctx) {
  if (string_at(copy.spec(), {"type"}) != "LoadBalancer" || !addresses_given(copy).empty()) return {};
  const std::string_view here = string_at(local.spec(), {"loadBalancerClass"}),
                         there = string_at(copy.spec(), {"loadBalancerClass"});
  return no_address_in(ctx) + "no load balancer there seems to serve " +
         (there.empty() ? "Services without a class" : "class " + kube::in_quotes(there)) +
         (here.empty() || here == there ? "" : " (class " + kube::in_quotes(here) + " is one of this cluster)") +
         "; its administrator can offer a class that is served (loadBalancerClasses)";
}

std::string unserved_ingress(const kube::Object&, const kube::Object& copy, const core::ForgingContext& ctx) {
  const std::string_view name = string_at(copy.spec(), {"ingressClassName"});
  if (name.empty() || !addresses_given(copy).empty()) return {};
  return no_address_in(ctx) + "perhaps no controller there serves class " + kube::in_quotes(name) +
         "; its administrator can offer another one (ingressClasses)";
}

}  // namespace liqo::core::reflection
