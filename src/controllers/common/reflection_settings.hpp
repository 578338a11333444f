// What an operator sets about copies.
#pragma once

#include <string>
#include <vector>

#include "core/reflection/custom_resource.hpp"
#include "core/reflection/policy.hpp"
#include "core/reflection/reflection_filters.hpp"

namespace liqo::controllers {

/// The options of liqod about copies. A default here is that of the option.
struct ReflectionSettings {
  /// Which objects of each kind are reflected, where no VkOptionsTemplate says otherwise.
  reflection::Policies kinds;
  std::vector<reflection::CustomResource> custom_resources;  ///< that are reflected beside the kinds of the table
  /// What no copy has, and no ShadowPod.
  core::ReflectionFilters not_reflected{.labels = {}, .annotations = core::default_annotations_not_reflected()};
  std::vector<std::string> kept_keys;      ///< ForgingContext::kept_keys
  bool denies_direct_connections = false;  ///< consumers' endpoints in third clusters are left out
};

}  // namespace liqo::controllers
