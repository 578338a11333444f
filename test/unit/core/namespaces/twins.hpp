// The consumer and the amounts that tests of twins begin with.
#pragma once

#include "../objects.hpp"
#include "core/common/resources.hpp"
#include "core/namespaces/twin_plan.hpp"

namespace liqo::core::testing {

inline Resources amounts(std::string_view text) { return read_resources(parse_value(text).get_object()).value(); }

/// Twins of consumer rome, by its NamespaceMap milan.
inline TwinContext ctx() {
  return {.map = {"liqo-tenant-rome", "milan"},
          .origin = "rome",
          .pod_security = "baseline",
          .liqo_namespace = "liqo",
          .storage_namespace = "liqo-storage",
          .names = {.consumer = "rome", .consumers = {"rome"}, .allowed = {}, .mistake = {}}};
}

}  // namespace liqo::core::testing
