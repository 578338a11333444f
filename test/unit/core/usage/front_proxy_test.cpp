#include "core/usage/front_proxy.hpp"

#include <doctest/doctest.h>

using namespace liqo::core;

namespace {

kube::Object map_of(std::string_view names, std::string_view users = R"(["X-Remote-User"])",
                    std::string_view groups = R"(["X-Remote-Group"])") {
  kube::Object map = kube::Object::make(kube::resources::config_maps, {"kube-system", "any"});
  map.tree()["data"] = kube::json::object{{"requestheader-client-ca-file", "PEM"},
                                          {"requestheader-allowed-names", names},
                                          {"requestheader-username-headers", users},
                                          {"requestheader-group-headers", groups}};
  return map;
}

using Headers = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE("a front proxy is known by the names that Kubernetes tells") {
  struct Case {
    const char* title;
    std::string_view names, shown;
    bool is_proxy;
  };
  for (const Case& c : {
           Case{"its name", R"(["front-proxy-client","other"])", "front-proxy-client", true},
           Case{"another name", R"(["front-proxy-client"])", "liqo", false},
           Case{"no name at all", R"(["front-proxy-client"])", "", false},
           Case{"any name", "[]", "whoever", true},
           Case{"what is no list", "front-proxy-client", "front-proxy-client", false},
           Case{"a list of something else", "[1]", "1", false},
           Case{"nothing", "", "", false},
       }) {
    CAPTURE(c.title);
    CHECK(is_front_proxy(read_front_proxy(map_of(c.names)), c.shown) == c.is_proxy);
  }
  CHECK_FALSE(is_front_proxy({}, "front-proxy-client"));
  kube::Object without = map_of("[]");
  without.tree()["data"].as_object().erase("requestheader-client-ca-file");
  CHECK_FALSE(is_front_proxy(read_front_proxy(without), "front-proxy-client"));
}

TEST_CASE("the user is the one of the headers that Kubernetes names, and of no others") {
  const FrontProxy proxy = read_front_proxy(map_of("[]", R"(["X-Remote-User","X-Other"])"));
  const auto user = proxied_user(proxy, Headers{{"x-remote-group", "rome"},
                                                {"x-remote-user", "pool-1234"},
                                                {"x-remote-user", "admin"},
                                                {"x-remote-group", "system:authenticated"},
                                                {"x-remote-extra-group", "milan"}});
  CHECK(user.name == "pool-1234");
  CHECK(user.groups == std::vector<std::string>{"rome", "system:authenticated"});
  CHECK(proxied_user(proxy, Headers{{"x-other", "second"}}).name == "second");
  CHECK(proxied_user(proxy, Headers{{"x-remote-group", "rome"}}).groups.empty());
  CHECK(proxied_user({}, Headers{{"x-remote-user", "admin"}}).name.empty());
}
