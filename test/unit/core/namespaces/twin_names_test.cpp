// Which names new twins may have, and which IDs would make the namespaces of others their own.
#include "core/namespaces/twin_names.hpp"

#include <doctest/doctest.h>

namespace liqo::core {
namespace {

TwinNameRules rules(std::optional<std::vector<std::string>> allowed = {}, std::string consumer = "rome") {
  return {.consumer = std::move(consumer),
          .consumers = {"rome", "paris", "east-rome"},
          .allowed = std::move(allowed),
          .mistake = {}};
}

}  // namespace

TEST_CASE("a pattern describes names, and a star in it is any text") {
  struct Case {
    const char *pattern, *name;
    bool fits;
  };
  for (const Case& c : {Case{"shop", "shop", true},
                        {"shop", "shops", false},
                        {"shop", "sho", false},
                        {"*", "shop", true},
                        {"*", "", true},
                        {"", "", true},
                        {"", "a", false},
                        {"team-*", "team-a", true},
                        {"team-*", "team-", true},
                        {"team-*", "steam-a", false},
                        {"*-dev", "a-dev-dev", true},
                        {"*-dev", "a-device", false},
                        {"a*b*c", "a-b-b-c", true},
                        {"a*b*c", "acb", false},
                        {"**", "x", true},
                        {"a**", "a", true}}) {
    CAPTURE(c.pattern);
    CAPTURE(c.name);
    CHECK(matches_name_pattern(c.pattern, c.name) == c.fits);
  }
}

TEST_CASE("new twins have names that end in the consumer's ID, unless others are allowed") {
  struct Case {
    const char* name;
    std::optional<std::vector<std::string>> allowed;
    const char* refusal;  ///< what it says among other things; "" = the name may be had
  };
  const Case cases[] = {
      {"shop-rome", {}, ""},
      {"cert-manager", {}, "names that end in -rome, not cert-manager"},
      {"shop", {}, "names that end in -rome"},
      {"rome", {}, "names that end in -rome"},
      {"-rome", {}, "names that end in -rome"},
      {"shoprome", {}, "names that end in -rome"},
      {"shop-paris", {}, "names that end in -rome"},
      {"shop-milan", {}, "names that end in -rome"},
      {"shop-east-rome", {}, "keeps the name shop-east-rome for cluster east-rome"},
      {"east-rome", {}, ""},
      {"shop", {{"shop", "team-*"}}, ""},
      {"team-a", {{"shop", "team-*"}}, ""},
      {"shop-rome", {{"shop", "team-*"}}, "does not give cluster rome the name shop-rome"},
      {"shop-rome", {{"*-rome"}}, ""},
      {"shop-east-rome", {{"*-rome"}}, "keeps the name shop-east-rome for cluster east-rome"},
      {"anything", {{"*"}}, ""},
      {"shop-paris", {{"*"}}, "keeps the name shop-paris for cluster paris"},
      {"shop-paris", {{"*", "shop-paris"}}, ""},
      {"cert-manager", {{"*"}}, "keeps the name cert-manager for the software that has it"},
      {"cert-manager", {{"cert-manager"}}, ""},
      {"shop-rome", {std::vector<std::string>()}, "does not give"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const std::string said = refuse_new_twin_name(c.name, rules(c.allowed));
    CHECK((said == "") == (std::string_view(c.refusal) == ""));
    CHECK(said.find(c.refusal) != std::string::npos);
    if (!said.empty()) CHECK(said.find("(twinNames)") != std::string::npos);
  }
  // An ID that was let in before IDs were looked at.
  CHECK(refuse_new_twin_name("cert-manager", rules({}, "manager")).find("keeps the name") != std::string::npos);
  CHECK(refuse_new_twin_name("shop-manager", rules({}, "manager")) == "");
  TwinNameRules broken = rules();
  broken.mistake = "the annotation is no JSON";
  CHECK(refuse_new_twin_name("shop-rome", broken) == "the provider makes no new namespaces: the annotation is no JSON");
}

TEST_CASE("the refusal of the longest names still fits into an answer with its key") {
  const std::string longest(63, 'x');
  const std::string said = refuse_new_twin_name(longest, rules({}, std::string(51, 'y')));
  CHECK(said.size() <= 300);
}

TEST_CASE("an ID must not make the namespaces of others look like twins") {
  const NamedNamespace there[] = {{"default", false},    {"cert-manager", false},      {"team-oslo", false},
                                  {"shop-athens", true}, {"liqo-tenant-athens", true}, {"liqo-tenant-old", false},
                                  {"system", false}};
  CHECK(namespace_of_id("manager", there) == "cert-manager");
  CHECK(namespace_of_id("oslo", there) == "team-oslo");
  CHECK(namespace_of_id("system", {}) != "");
  CHECK(namespace_of_id("nginx", {}) == "ingress-nginx");
  CHECK(namespace_of_id("athens", there) == "");
  CHECK(namespace_of_id("old", there) == "");
  CHECK(namespace_of_id("rome", there) == "");
  CHECK(namespace_of_id("default", there) == "");
  CHECK(namespace_of_id("", there) == "");
}

}  // namespace liqo::core
