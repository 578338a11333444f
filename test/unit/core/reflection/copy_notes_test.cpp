// Notes on the copies of Services and Ingresses.
#include "core/reflection/copy_notes.hpp"

#include "objects.hpp"

namespace liqo::core::reflection {
namespace {

kube::Object with(std::string_view spec, std::string_view status = "{}") {
  return parse(R"({"metadata": {"name": "door", "namespace": "shop"}, "spec": )" + std::string(spec) +
               R"(, "status": )" + std::string(status) + "}");
}

std::string joined(const std::vector<CopyNote>& notes) {
  std::string all;
  for (const CopyNote& note : notes) all += std::string(all.empty() ? "" : " ") + std::string(note.about);
  return all;
}

constexpr const char* given = R"({"loadBalancer": {"ingress": [{"ip": "198.51.100.9"}]}})";

}  // namespace

TEST_CASE("a copy that lacks IP families is reported if they matter") {
  struct Case {
    const char *title, *local, *copy;
    bool is_told;
  };
  for (const Case& c : {
           Case{"the same", R"({"ipFamilies": ["IPv4"]})", R"({"ipFamilies": ["IPv4"]})", false},
           Case{"two are required", R"({"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv6", "IPv4"]})",
                R"({"ipFamilies": ["IPv4"]})", true},
           Case{"two are there", R"({"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv6", "IPv4"]})",
                R"({"ipFamilies": ["IPv4", "IPv6"]})", false},
           Case{"two are preferred", R"({"ipFamilyPolicy": "PreferDualStack", "ipFamilies": ["IPv4", "IPv6"]})",
                R"({"ipFamilies": ["IPv4"]})", false},
           Case{"another one", R"({"ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv6"]})",
                R"({"ipFamilies": ["IPv4"]})", true},
           Case{"a name", R"({"type": "ExternalName"})", R"({"type": "ExternalName"})", false},
           Case{"a server that says nothing", R"({"ipFamilies": ["IPv6"]})", "{}", false},
           Case{"a server that says other words", R"({"ipFamilies": ["IPv6"]})", R"({"ipFamilies": ["x", 7]})", false},
       }) {
    CAPTURE(c.title);
    CHECK(joined(notes_on_service(with(c.local), with(c.copy), context())) == (c.is_told ? "families" : ""));
  }
  const auto words = [](const char* policy) {
    return notes_on_service(with(R"({"ipFamilies": ["IPv6"], "ipFamilyPolicy": ")" + std::string(policy) + "\"}"),
                            with(R"({"ipFamilies": ["IPv4"]})"), context())
        .at(0)
        .words;
  };
  CHECK(words("SingleStack") ==
        "the copy in cluster remote-cluster has only IPv4, because that cluster gives it no IPv6: pods there reach no "
        "endpoint of IPv6 by it; ipFamilyPolicy PreferDualStack asks for all that a cluster has");
  CHECK(words("RequireDualStack").ends_with("by it; only a cluster with two stacks has both"));
}

TEST_CASE("traffic that stays on the nodes of the provider is reported, for doors also that from outside") {
  struct Case {
    const char *copy, *about;
  };
  for (const Case& c : {
           Case{R"({"type": "ClusterIP", "internalTrafficPolicy": "Local"})", "inside"},
           Case{R"({"type": "ClusterIP", "internalTrafficPolicy": "Cluster", "externalTrafficPolicy": "Local"})", ""},
           Case{R"({"type": "NodePort", "externalTrafficPolicy": "Local"})", "outside"},
           Case{R"({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "internalTrafficPolicy": "Local"})",
                "inside outside"},
           Case{R"({"type": "LoadBalancer", "externalTrafficPolicy": "Cluster"})", ""},
       }) {
    CAPTURE(c.copy);
    const auto notes = notes_on_service(with("{}"), with(c.copy), context());
    CHECK(joined(notes) == c.about);
    for (const CopyNote& note : notes) {
      CHECK_FALSE(note.is_warning);
      CHECK(note.words.contains("cluster remote-cluster"));
    }
  }
}

TEST_CASE("an Ingress without a class is reported as soon as it is copied") {
  CHECK(notes_on_ingress(with("{}"), with(R"({"ingressClassName": "theirs"})"), context()).empty());
  const auto notes = notes_on_ingress(with(R"({"ingressClassName": "ours"})"), with("{}"), context());
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].is_warning);
  CHECK(notes[0].words ==
        "the copy in cluster remote-cluster has no class, because that cluster offers none and has no default one: "
        "perhaps no controller there serves it; its administrator can offer a class (ingressClasses)");
}

TEST_CASE("a copy that waits for an address names the class that nobody serves") {
  struct Case {
    const char *local, *copy, *status, *words;  ///< nullptr = it does not wait
  };
  for (const Case& c : {
           Case{R"({"type": "LoadBalancer"})", R"({"type": "LoadBalancer"})", "{}",
                "serve Services without a class; its"},
           Case{R"({"type": "LoadBalancer", "loadBalancerClass": "metal"})", R"({"type": "LoadBalancer"})", "{}",
                "serve Services without a class (class \"metal\" is one of this cluster); its"},
           Case{R"({"type": "LoadBalancer", "loadBalancerClass": "metal"})",
                R"({"type": "LoadBalancer", "loadBalancerClass": "theirs"})", "{}",
                "serve class \"theirs\" (class \"metal\" is one of this cluster); its"},
           Case{R"({"type": "LoadBalancer", "loadBalancerClass": "same"})",
                R"({"type": "LoadBalancer", "loadBalancerClass": "same"})", "{}", "serve class \"same\"; its"},
           Case{R"({"type": "LoadBalancer"})", R"({"type": "LoadBalancer"})", given, nullptr},
           // It is copied as one that nobody outside reaches.
           Case{R"({"type": "LoadBalancer"})", R"({"type": "ClusterIP"})", "{}", nullptr},
           Case{R"({"type": "NodePort"})", R"({"type": "NodePort"})", "{}", nullptr},
       }) {
    CAPTURE(c.local);
    CAPTURE(c.copy);
    const std::string words = unserved_service(with(c.local), with(c.copy, c.status), context());
    CHECK(words.empty() == (c.words == nullptr));
    if (c.words) CHECK(words.contains(c.words));
  }
  CHECK(unserved_service(with("{}"), with(R"({"type": "LoadBalancer"})"), context()) ==
        "the copy in cluster remote-cluster has had no address for 2 minutes: no load balancer there seems to serve "
        "Services without a class; its administrator can offer a class that is served (loadBalancerClasses)");

  CHECK(unserved_ingress(with("{}"), with(R"({"ingressClassName": "theirs"})"), context()) ==
        "the copy in cluster remote-cluster has had no address for 2 minutes: perhaps no controller there serves class "
        "\"theirs\"; its administrator can offer another one (ingressClasses)");
  CHECK(unserved_ingress(with("{}"), with(R"({"ingressClassName": "theirs"})", given), context()).empty());
  CHECK(unserved_ingress(with("{}"), with("{}"), context()).empty());
}

}  // namespace liqo::core::reflection
