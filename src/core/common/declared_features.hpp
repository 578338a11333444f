// The features that nodes declare (KEP-5328), as the labels by which a provider reports them to its consumers.
// Tested by test/unit/core/common/declared_features_test.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/json.hpp"

namespace liqo::core {

/// The most features that are reported, and shown on a virtual node.
inline constexpr std::size_t max_declared_features = 24;

/// The key of the label that stands for a feature, `features.liqo.io/<feature>`. Its value is "true".
std::string feature_key(std::string_view feature);

/// Whether the key is in the domain of these labels.
bool is_feature_key(std::string_view key);

/// Whether a label stands for a feature that a virtual node can declare. API servers refuse the whole status of a Node
/// for one name that is not in UpperCamelCase. Some features are what liqod would have to do itself, which it does not.
bool is_feature_label(std::string_view key, std::string_view value);

/// Features that nodes declare, each once and sorted.
struct ReportedFeatures {
  std::vector<std::string> reported;
  std::vector<std::string> left_out;  ///< beyond the bound, or with a name that the key of a label cannot have
};

/// The features that can be reported. `declared` is in any order; if there are more than the bound, the first by name
/// are reported. Features that no virtual node can declare, whatever its provider does, are in neither list.
ReportedFeatures reported_features(std::vector<std::string> declared);

/// The features that labels stand for, within the bound and sorted by bytes: API servers refuse an unsorted list.
std::vector<std::string> features_of(const kube::json::object& labels);

}  // namespace liqo::core
