// The report about NetworkPolicies of offloaded namespaces.
#include "core/namespaces/network_policies.hpp"

#include <doctest/doctest.h>

namespace liqo::core {

TEST_CASE("NetworkPolicies are named, and some of many") {
  FoundPolicies policies;
  policies.add("default-deny");
  CHECK(describe_policies_at_home(policies, "milan", "shop-rome") ==
        "a NetworkPolicy of this namespace (default-deny) does not hold in cluster milan: keep pods that need it away "
        "from milan, or ask its administrator for policies in namespace shop-rome there");
  for (int i = 0; i < 1'000; ++i) policies.add("p" + std::to_string(i));
  CHECK(describe_policies_at_home(policies, "milan", "shop-rome")
            .starts_with("1001 NetworkPolicies of this namespace (default-deny, p0, p1, p2 and 997 more) do not hold"));
  CHECK(policies.names.size() == FoundPolicies::max_named);
}

TEST_CASE("the clusters of which was reported are kept in an annotation, which users can write, too") {
  const auto clusters = read_clusters("turin milan");
  CHECK(list_clusters(clusters) == "milan turin");
  CHECK(read_clusters("").empty());
  CHECK(list_clusters(read_clusters(" milan  MILAN a/b milan")) == "milan");
  CHECK(read_clusters(std::string(20'000, 'a')).empty());
}

}  // namespace liqo::core
