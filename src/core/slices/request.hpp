// The request of a ResourceSlice, read once and checked.
// Tested by test/unit/core/slices/grant_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "core/common/resources.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The classes that Liqo decides; slices of other classes are left to a controller of the provider.
inline constexpr std::string_view default_class = "default";
inline constexpr std::string_view share_class = "share";
/// Whether the class is one of the two.
bool is_built_in_class(std::string_view slice_class);

/// Most resources that one slice may name.
inline constexpr std::size_t max_slice_resources = 64;
/// Most characters of a slice's name: with a '-' and twelve digits it is the value of a label on every ShadowPod.
inline constexpr std::size_t max_slice_name = 50;

/// The most bytes of the words about what is wrong with the resources: a name or an amount that cannot be read may be
/// as long as its object.
inline constexpr std::size_t max_mistake = 300;

/// What a ResourceSlice asks for.
struct SliceRequest {
  std::string slice_class;  ///< "default" if none is named
  Resources resources;
  std::string problem;  ///< why it cannot be answered, one sentence; "" = it can
};

/// Amounts that only come whole: `pods` and extended resources.
bool is_counted(std::string_view resource);

/// Reads a ResourceSlice of another cluster. Never fails: `problem` says what is wrong with it, and then there are no
/// resources.
SliceRequest read_slice_request(const kube::Object& slice);

}  // namespace liqo::core
