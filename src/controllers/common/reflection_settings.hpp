// Options of an operator for reflection.
#pragma once

#include <string>
#include <vector>

#include "core/reflection/custom_resource.hpp"
#include "core/reflection/policy.hpp"
#include "core/reflection/reflection_filters.hpp"

namespace liqo::controllers {

/// The options of liqod for reflection. A default here is that of the option.
struct ReflectionSettings {
  /// Which objects of each kind are reflected, if no VkOptionsTemplate says otherwise.
  core::reflection::Policies kinds;
  std::vector<core::reflection::CustomResource> custom_resources;  ///< reflected besides the kinds of the table
  /// Labels and annotations that no copy and no ShadowPod gets.
  core::reflection::ReflectionFilters not_reflected{
      .labels = {}, .annotations = core::reflection::default_annotations_not_reflected()};
  std::vector<std::string> kept_keys;      ///< ForgingContext::kept_keys
  bool denies_direct_connections = false;  ///< consumers' endpoints in third clusters are left out
};

}  // namespace liqo::controllers
