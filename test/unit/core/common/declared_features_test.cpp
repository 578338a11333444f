// Features that nodes declare: which names can be reported, how many, and what labels of others are taken for them.
#include "core/common/declared_features.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using Names = std::vector<std::string>;

/// Features of kubelets that liqod does not have, whatever the provider's have.
const Names not_ours{"DRAOptionalNodeOperations", "ExtendWebSocketsToKubelet",
                     "InPlacePodVerticalScalingMemoryBackedVolumes", "VolumeBindMountOptions"};

/// F100, F101 and so on, in the order of their names.
Names numbered(int count) {
  Names names;
  for (int i = 0; i < count; ++i) names.push_back("F" + std::to_string(100 + i));
  return names;
}

}  // namespace

TEST_CASE("features are told by names that the key of a label can have, sorted, and no more than there is room for") {
  const std::string longest(63, 'X'), too_long(64, 'X');
  struct Row {
    const char* title;
    Names declared, told, left_out;
  };
  for (const Row& row : {
           Row{"none", {}, {}, {}},
           Row{"sorted by bytes", {"b", "Zeta", "A2", "A10"}, {"A10", "A2", "Zeta"}, {"b"}},
           Row{"once each", {"A", "B", "A"}, {"A", "B"}, {}},
           Row{"part of a feature", {"A/b", "A"}, {"A"}, {"A/b"}},
           Row{"no names", {"", "A.B", "A-B", "1A", "\u00c4"}, {}, {"", "1A", "A-B", "A.B", "\u00c4"}},
           Row{"lengths", {longest, too_long}, {longest}, {too_long}},
           Row{"what liqod would have to do itself", not_ours, {}, {}},
           Row{"that beside others", {"A", "ExtendWebSocketsToKubelet", "Z/z"}, {"A"}, {"Z/z"}},
       }) {
    CAPTURE(row.title);
    const ReportedFeatures features = reported_features(row.declared);
    CHECK(features.reported == row.told);
    CHECK(features.left_out == row.left_out);
  }
  Names with_others = numbered(26);
  with_others.insert(with_others.end(), not_ours.begin(), not_ours.end());
  const ReportedFeatures many = reported_features(with_others);
  CHECK(many.reported == numbered(24));
  CHECK(many.left_out == Names{"F124", "F125"});
}

TEST_CASE("labels tell of a feature by their domain, its name and the value true") {
  for (const auto& [key, value, is_one] :
       {std::tuple{"features.liqo.io/A", "true", true}, std::tuple{"features.liqo.io/InPlacePodResize2", "true", true},
        std::tuple{"features.liqo.io/A", "false", false}, std::tuple{"features.liqo.io/A", "", false},
        std::tuple{"features.liqo.io/a", "true", false}, std::tuple{"features.liqo.io/A-b", "true", false},
        std::tuple{"features.liqo.io/A/B", "true", false}, std::tuple{"features.liqo.io/", "true", false},
        std::tuple{"features.liqo.io", "true", false}, std::tuple{"x.features.liqo.io/A", "true", false},
        std::tuple{"A", "true", false}}) {
    CAPTURE(key);
    CHECK(is_feature_label(key, value) == is_one);
  }
  CHECK(is_feature_key("features.liqo.io/a-b"));
  CHECK_FALSE(is_feature_key("features.liqo.io"));
  CHECK_FALSE(is_feature_key("liqo.io/A"));
  CHECK(is_feature_label(feature_key("A"), "true"));
  for (const std::string& name : not_ours) {
    CAPTURE(name);
    CHECK(is_feature_key(feature_key(name)));
    CHECK_FALSE(is_feature_label(feature_key(name), "true"));
  }
}

TEST_CASE("what labels tell is sorted and bounded, whoever wrote them") {
  CHECK(features_of(parse_value(R"({"features.liqo.io/B": "true", "region": "eu", "features.liqo.io/A": "true",
    "features.liqo.io/C": "no", "features.liqo.io/D": true, "features.liqo.io/e": "true",
    "features.liqo.io/ExtendWebSocketsToKubelet": "true"})")
                        .get_object()) == Names{"A", "B"});
  json::object labels;
  for (const std::string& name : numbered(900)) labels[feature_key(name)] = "true";
  CHECK(features_of(labels) == numbered(24));
  CHECK(features_of(json::object()).empty());
}

}  // namespace liqo::core
