// What the namespaces of one Reflector share.
// Tested by test/unit/controllers/reflection/reflector_test.cpp.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "controllers/common/counters.hpp"
#include "controllers/reflection/reflector_context.hpp"
#include "core/reflection/home_endpoints.hpp"
#include "core/reflection/policy.hpp"
#include "core/reflection/reflection_filters.hpp"

namespace liqo::reflector {

/// Called with the Secrets that an object of a kind, which is reflected, refers to; none = it is not, or no more.
using ReferencesHandler =
    std::function<void(const std::string& ns, const std::string& name, std::vector<std::string> secrets)>;

/// What all namespaces of one Reflector work with and are reflected by. The Reflector changes it; it outlives them.
struct NamespaceContext : ReflectorContext {
  /// While more than this many bytes of contents are held, no further namespace is read.
  static constexpr std::size_t max_read_ahead = 1U << 20;

  const reflection::ReflectedKind& kind;
  reflection::SelectionPolicy policy;
  core::ForgingContext forging;
  ReferencesHandler on_references = nullptr;
  /// Whether all references are known: until then no copy goes for want of them. Null = they are.
  std::function<bool()> references_known = nullptr;
  kube::InformerHandle watched = {};    ///< metadata of all namespaces at home; none of a kind that is not watched
  std::size_t held = 0;                 ///< bytes of content, of all namespaces
  std::deque<std::string> unread = {};  ///< namespaces that wait to be read until less is held

  /// Nothing of the kind is reflected: what copies there are go.
  bool is_off() const { return kind.needs_endpoints && !forging.endpoints; }
  /// Whether all is known at home that decides what copies are wanted.
  bool is_known_at_home() const {
    if (is_off()) return true;
    if (kind.needs_endpoints && !forging.endpoints->is_known()) return false;
    return kind.referred_only || watched->has_synced();
  }
  /// What is counted of a namespace, which outlives the answer.
  ReflectionSeries series_of(const std::string& ns) const {
    return {.metrics = metrics, .ns = ns, .kind = kind.name, .forging = forging};
  }
};

}  // namespace liqo::reflector
