// The state that the namespaces of one Reflector share.
// Tested by test/unit/controllers/reflection/reflector_test.cpp.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/counters.hpp"
#include "controllers/reflection/reflector_context.hpp"
#include "core/reflection/home_endpoints.hpp"
#include "core/reflection/policy.hpp"
#include "core/reflection/reflection_filters.hpp"

namespace liqo::controllers {

/// Called with the Secrets to which a reflected object refers; none = it is not reflected, or not any more.
using ReferencesHandler =
    std::function<void(const std::string& ns, const std::string& name, std::vector<std::string> secrets)>;

/// Dependencies and rules of all namespaces of one Reflector. The Reflector changes it; it outlives them.
struct NamespaceContext : ReflectorContext {
  /// While more than this many bytes of contents are held, no further namespace is read.
  static constexpr std::size_t max_read_ahead = 1U << 20;

  const core::reflection::ReflectedKind& kind;
  core::reflection::SelectionPolicy policy;
  core::ForgingContext forging;
  ReferencesHandler on_references = nullptr;
  /// Whether all references are known: until then no copy is removed for lack of references. Null = they are known.
  std::function<bool()> references_known = nullptr;
  kube::InformerHandle watched = {};    ///< metadata of all namespaces at home; null for a kind that is not watched
  std::size_t held = 0;                 ///< bytes of content, of all namespaces
  std::deque<std::string> unread = {};  ///< namespaces that wait to be read until less is held
  /// An object of a namespace leads to another one by its name, or has done so: namespaces that begin or end concern
  /// it.
  bool has_leading = false;

  std::optional<kube::Counter> given_up = {};  ///< made when there is something to count

  /// Counts a copy that is left to somebody at the provider.
  void count_given_up() {
    if (!given_up)
      given_up = metrics.counter(families::copies_given_up, {{"reflector_resource", std::string(kind.name)},
                                                             {"cluster_id", forging.clusters.remote}});
    given_up->add();
  }
  /// Whether nothing of the kind is reflected, so that its copies are removed.
  bool is_off() const { return kind.needs_endpoints && !forging.endpoints; }
  /// Whether everything at home that decides about copies is known.
  bool is_known_at_home() const {
    if (is_off()) return true;
    if (kind.needs_endpoints && !forging.endpoints->is_known()) return false;
    return kind.referred_only || watched->has_synced();
  }
  /// The metrics series of a namespace. `ns` outlives it.
  ReflectionSeries series_of(const std::string& ns) const {
    return {.metrics = metrics, .ns = ns, .kind = kind.name, .forging = forging};
  }
};

}  // namespace liqo::controllers
