// The service-account tokens of offloaded pods, seen by the liqod of the consumer; the provider's part is played here.
#include <doctest/doctest.h>

#include "../offloading_fixture.hpp"
#include "core/common/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {

using namespace std::chrono_literals;

TEST_CASE("pods that need the API server of home get tokens, and those that have no address for it are told so") {
  Offloading world;
  const auto pod = [&](std::string_view name, std::string_view account) {
    kube::Object out = kube::Object::make(resources::pods, {shop, std::string(name)});
    const json::object source{{"serviceAccountToken", json::object{{"path", "token"}}}};
    out.mutable_spec() = json::object{
        {"nodeName", "milan"},
        {"serviceAccountName", account},
        {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}},
        {"volumes", json::array{json::object{{"name", "kube-api-access-x"},
                                             {"projected", json::object{{"sources", json::array{source}}}}}}}};
    world.apply(resources::pods, out);
    world.run_at_milan(name);
  };
  const auto told = [&](std::string_view name) {
    return world.condition(name, api::home_api_server_condition, "message");
  };
  const auto has_token = [&](std::string_view name) {
    return world.at_milan(resources::secrets, std::string(name) + "-token").has_value();
  };
  world.apply(resources::service_accounts, kube::Object::make(resources::service_accounts, {shop, "robot"}));
  // The address is not known: the pod runs, and its status says so.
  pod("lost", "robot");
  CHECK(world.reaches([&] { return told("lost").contains("no token"); }));
  CHECK(world.condition("lost", api::home_api_server_condition, "reason") == "AddressUnknown");
  CHECK_FALSE(has_token("lost"));
  world.stop();
  world.start({.offloading = {.api_server_host = "10.0.0.1"}});

  pod("plain", "default");
  CHECK(told("plain") == "(none)");
  CHECK_FALSE(has_token("plain"));
  pod("robot", "robot");
  CHECK(has_token("robot"));
  CHECK(told("robot") == "(none)");
  // Tokens that cannot be mounted any more are not handed out.
  CHECK_FALSE(has_token("lost"));
  // The remains of a pod that was removed while no liqod ran are removed, too.
  world.stop();
  for (const kube::Resource& kind : {kinds::shadow_pods, resources::pods})
    (void)world.milan.remove(kind, {twin, "robot"}, {.grace_period_seconds = 0}, "milan");
  (void)world.server.remove(resources::pods, {shop, "robot"}, {.grace_period_seconds = 0}, "user");
  (void)world.server.remove(resources::pods, {shop, "lost"}, {.grace_period_seconds = 0}, "user");
  world.start({.offloading = {.api_server_host = "10.0.0.1"}});
  CHECK(world.reaches([&] { return !has_token("robot"); }, 2min));
}

namespace {

/// A pod that runs as a service account of that name, and mounts its token.
void create_robot(Offloading& world, std::string_view name, std::string_view account = "robot") {
  world.apply(resources::service_accounts,
              kube::Object::make(resources::service_accounts, {shop, std::string(account)}));
  kube::Object pod = kube::Object::make(resources::pods, {shop, std::string(name)});
  const json::object source{{"serviceAccountToken", json::object{{"path", "token"}}}};
  pod.mutable_spec() = json::object{
      {"nodeName", "milan"},
      {"serviceAccountName", account},
      {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}},
      {"volumes", json::array{json::object{{"name", "kube-api-access-x"},
                                           {"projected", json::object{{"sources", json::array{source}}}}}}}};
  world.apply(resources::pods, pod);
}

kube::Object foreign_secret(std::string_view name) {
  kube::Object secret = kube::Object::make(resources::secrets, {twin, std::string(name)});
  secret.tree()["type"] = "Opaque";
  secret.tree()["data"] = json::object{{"word", "Y2lhbw=="}};
  return secret;
}

void end(Offloading& world, std::string_view name) {
  (void)world.server.remove(resources::pods, {shop, std::string(name)}, {}, "user");
  world.pass(10s);
  (void)world.milan.remove(resources::pods, {twin, std::string(name)}, {.grace_period_seconds = 0}, "milan");
  CHECK(world.reaches([&] { return !world.local(name).has_value(); }, 2min));
  world.pass(2min);
}

}  // namespace

TEST_CASE("a Secret of somebody else that has the name of a token Secret is left alone, and the pod tells of it") {
  Offloading world({}, {.offloading = {.api_server_host = "10.0.0.1"}});
  bool comes_late = false;
  SUBCASE("it was there before") {
    (void)world.milan.create(resources::secrets, foreign_secret("web-token").tree(), "admin");
  }
  SUBCASE("it comes after the name was looked at") {
    comes_late = true;
    world.outage = [&](kube::HttpRequest& request) {
      if (request.resource == "secrets" && request.method == "POST" && std::exchange(comes_late, false))
        (void)world.milan.create(resources::secrets, foreign_secret("web-token").tree(), "admin");
      return false;
    };
  }
  create_robot(world, "web");
  world.run_at_milan("web");
  CHECK_FALSE(comes_late);
  CHECK(world.reaches([&] { return world.events("FailedSATokensReflection").size() == 1; }));
  const auto secret = [&] { return world.at_milan(resources::secrets, "web-token"); };
  REQUIRE(secret().has_value());
  const auto version = std::string(secret()->resource_version());
  CHECK(kube::object_at(secret()->tree(), {"data"}).size() == 1);
  CHECK(secret()->labels().empty());
  world.pass(2min);
  end(world, "web");
  REQUIRE(secret().has_value());
  CHECK(secret()->resource_version() == version);
}

TEST_CASE("a token Secret that is replaced by somebody's own is not renewed") {
  Offloading world({}, {.offloading = {.api_server_host = "10.0.0.1"}});
  create_robot(world, "web");
  world.run_at_milan("web");
  const auto secret = [&] { return world.at_milan(resources::secrets, "web-token"); };
  REQUIRE(secret().has_value());
  bool is_replaced = false;
  world.outage = [&](kube::HttpRequest& request) {
    if (request.resource == "secrets" && request.method == "PATCH" && !std::exchange(is_replaced, true)) {
      (void)world.milan.remove(resources::secrets, {twin, "web-token"}, {}, "admin");
      (void)world.milan.create(resources::secrets, foreign_secret("web-token").tree(), "admin");
    }
    return false;
  };
  REQUIRE(world.reaches([&] { return is_replaced; }, 2h));
  world.pass(2min);
  REQUIRE(secret().has_value());
  CHECK(kube::object_at(secret()->tree(), {"data"}).size() == 1);
  CHECK(world.events("FailedSATokensReflection").size() == 1);
}

TEST_CASE("a token Secret that somebody changes, seals or deletes, or whose name is free again, is right within 30 s") {
  Offloading world({}, {.offloading = {.api_server_host = "10.0.0.1"}});
  create_robot(world, "web");
  world.run_at_milan("web");
  const kube::ObjectKey key{twin, "web-token"};
  const auto secret = [&] { return world.at_milan(resources::secrets, "web-token"); };
  REQUIRE(secret().has_value());
  const json::object good = kube::object_at(secret()->tree(), {"data"});
  REQUIRE(good.size() == 1);
  const auto is_right = [&] { return secret() && kube::object_at(secret()->tree(), {"data"}) == good; };
  const auto damage = [&](const std::function<void(json::object&)>& how) {
    REQUIRE(world.milan.update({resources::secrets, key}, how, "admin"));
    REQUIRE(world.reaches(is_right, 30s));
  };
  damage([&](json::object& next) { next["data"] = json::object{{good.begin()->key(), "eA=="}}; });
  damage([&](json::object& next) { next["data"] = json::object(); });
  damage([](json::object& next) {
    next["data"] = json::object();
    next["immutable"] = true;
  });
  REQUIRE(world.milan.update(
      {resources::secrets, key},
      [](json::object& next) {
        next["metadata"].as_object()["labels"].as_object().erase(api::labels::service_account_name);
      },
      "admin"));
  CHECK(world.reaches([&] { return secret()->has_label(api::labels::service_account_name); }, 30s));
  REQUIRE(world.milan.remove(resources::secrets, key, {}, "admin"));
  CHECK(world.reaches(is_right, 30s));
  REQUIRE(world.milan.remove(resources::secrets, key, {}, "admin"));
  REQUIRE(world.milan.create(resources::secrets, foreign_secret("web-token").tree(), "admin"));
  REQUIRE(world.reaches([&] { return world.events("FailedSATokensReflection").size() == 1; }));
  REQUIRE(world.milan.remove(resources::secrets, key, {}, "admin"));
  CHECK(world.reaches(is_right, 30s));
  const auto writes = [&] {
    return std::ranges::count(world.milan.writes(), "secrets", &kube::testing::FakeWrite::plural);
  };
  const auto before = writes();
  world.pass(2min);
  CHECK(writes() == before);
}

TEST_CASE("a pod tells why its tokens cannot be brought to the provider") {
  Offloading world({}, {.offloading = {.api_server_host = "10.0.0.1"}});
  world.refuse = [](const kube::HttpRequest& request) {
    return request.resource == "secrets" && request.method == "POST" ? "exceeded quota: small" : "";
  };
  create_robot(world, "web");
  REQUIRE(world.reaches([&] { return world.events("FailedSATokensReflection").size() == 1; }));
  CHECK(world.events("FailedSATokensReflection").front() ==
        "cluster milan refuses the Secret with the service-account tokens of this pod: exceeded quota: small");
  CHECK_FALSE(world.at_milan(kinds::shadow_pods, "web"));
  world.refuse = [](const kube::HttpRequest&) { return ""; };
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 10min));
}

TEST_CASE("a pod that is deleted, or whose namespace is withdrawn, while its tokens are requested is not ordered") {
  Offloading world({}, {.offloading = {.api_server_host = "10.0.0.1"}});
  std::function<void()> change;
  SUBCASE("deleted") {
    change = [&] { (void)world.server.remove(resources::pods, {shop, "web"}, {}, "user"); };
  }
  SUBCASE("withdrawn") {
    change = [&] {
      (void)world.server.remove(kinds::namespace_offloadings, {shop, "offloading"}, {}, "user");
      world.change(kinds::namespace_maps, {tenant, "milan"}, "",
                   [](json::object& next) { next["spec"].as_object()["desiredMapping"] = json::object(); });
      world.map_twin("Terminating");
    };
  }
  bool is_asked = false;
  world.reads = [&](kube::HttpRequest& request) {
    if (request.target.contains("/serviceaccounts/robot/token") && !std::exchange(is_asked, true)) change();
  };
  create_robot(world, "web");
  REQUIRE(world.reaches([&] { return is_asked; }));
  world.pass(1min);
  CHECK(std::ranges::count(world.milan.writes(), "shadowpods", &kube::testing::FakeWrite::plural) == 0);
}

TEST_CASE("a pod whose name leaves no room for that of its token Secret has its tokens, until it goes") {
  Offloading world({}, {.offloading = {.api_server_host = "10.0.0.1"}});
  const std::string name(253, 'a'), secret = core::token_secret_name(name);
  create_robot(world, name);
  world.run_at_milan(name);
  REQUIRE(world.at_milan(resources::secrets, secret).has_value());
  const std::string counter =
      "liqo_virtual_kubelet_reflection_item_counter{cluster_id=\"milan\",namespace=\"shop\","
      "node_name=\"milan\",reflector_resource=\"ServiceAccount\"} 1";
  CHECK(world.metrics().contains(counter));
  // It is recreated when it is deleted.
  REQUIRE(world.milan.remove(resources::secrets, {twin, secret}, {}, "milan"));
  CHECK(world.reaches([&] { return world.at_milan(resources::secrets, secret).has_value(); }, 1min));
  end(world, name);
  CHECK_FALSE(world.at_milan(resources::secrets, secret).has_value());
}

TEST_CASE(
    "pods find the API server of home by the address that a network has given it, where that reaches their provider") {
  const kube::ObjectKey network{tenant, "milan"}, address{"liqo", "api-server"};
  Offloading world({}, {}, [&](Offloading& before) {
    before.server.serve(kinds::ips);
    before.server.serve(kinds::configurations);
    kube::Object ip = kube::Object::make(kinds::ips, address);
    ip.set_label(api::labels::ip_type, api::labels::ip_type_api_server);
    before.apply(kinds::ips, ip);
    before.change(kinds::ips, address, "status",
                  [](json::object& next) { next["status"] = json::object{{"ip", "10.70.0.1"}}; });
  });
  const auto aliases = [&](std::string_view name) {
    const auto shadow = world.at_milan(kinds::shadow_pods, name);
    return shadow ? json::serialize(kube::array_at(shadow->spec(), {"pod", "hostAliases"})) : "(none)";
  };
  // Without a network, nothing leads there.
  create_robot(world, "early");
  REQUIRE(world.reaches([&] { return aliases("early") == "[]"; }));
  kube::Object configuration = kube::Object::make(kinds::configurations, network);
  configuration.set_label(api::labels::remote_cluster_id, "milan");
  const json::object ranges{{"cidr", json::object{{"pod", json::array{"10.0.0.0/16"}}}}};
  configuration.mutable_spec()["remote"] = ranges;
  world.apply(kinds::configurations, configuration);
  world.change(kinds::configurations, network, "status", [&](json::object& next) {
    const json::object ready{{"type", "NetworkCIDRsConfigured"}, {"status", "True"}};
    next["status"] = json::object{{"remote", ranges}, {"conditions", json::array{ready}}};
  });
  world.pass(30s);
  create_robot(world, "late");
  CHECK(world.reaches([&] {
    return aliases("late") == R"([{"ip":"10.70.0.1","hostnames":["kubernetes.default","kubernetes.default.svc",)"
                              R"("kubernetes.default.svc.cluster.local"]}])";
  }));
  CHECK(world.reaches([&] { return world.at_milan(resources::secrets, "late-token").has_value(); }));
}

TEST_CASE("a VkOptionsTemplate keeps tokens at home, and what of it is not followed is told") {
  Offloading world({}, {.offloading = {.api_server_host = "10.0.0.1"}}, [](Offloading& before) {
    kube::Object options = kube::Object::make(kinds::vk_options_templates, {"liqo", "virtual-kubelet-default"});
    const json::object none{{"workers", 0}};
    options.mutable_spec()["reflectorsConfig"] = json::object{{"serviceaccount", none}, {"secrets", none}};
    before.apply(kinds::vk_options_templates, options);
  });
  create_robot(world, "web");
  world.run_at_milan("web");
  world.pass(1min);
  CHECK_FALSE(world.at_milan(resources::secrets, "web-token").has_value());
  REQUIRE(world.events("ReflectionPolicyInvalid").size() == 1);
  CHECK(world.events("ReflectionPolicyInvalid").front() ==
        "the VkOptionsTemplate asks for what is not supported: what is said of secrets (no such kind)");
  REQUIRE(world.events("TokensWithheld").size() == 1);
  CHECK(world.events("TokensWithheld")
            .front()
            .ends_with("because of the VkOptionsTemplate: serviceaccount has no workers"));
  world.server.remove(kinds::vk_options_templates, {"liqo", "virtual-kubelet-default"}, {}, "operator");
  world.pass(10s);
  create_robot(world, "later");
  CHECK(world.reaches([&] { return world.at_milan(resources::secrets, "later-token").has_value(); }));
}

TEST_CASE("pods keep the tokens that they have when fewer are to get any, and are told when these expire") {
  for (const core::ApiServerMode narrowed : {core::ApiServerMode::needed, core::ApiServerMode::never}) {
    CAPTURE(int(narrowed));
    const std::string host = narrowed == core::ApiServerMode::needed ? "10.0.0.1" : "";
    Offloading world({},
                     {.offloading = {.api_server_mode = core::ApiServerMode::always, .api_server_host = "10.0.0.1"}});
    create_robot(world, "web", "default");
    world.run_at_milan("web");
    const auto token = [&] { return world.at_milan(resources::secrets, "web-token"); };
    REQUIRE(token().has_value());
    world.stop();
    world.start({.offloading = {.api_server_mode = narrowed, .api_server_host = host}});
    world.pass(2min);
    REQUIRE(token().has_value());
    // It is recreated when it is deleted, with the token that it had. That is not renewed.
    const json::object data = kube::object_at(token()->tree(), {"data"});
    REQUIRE(world.milan.remove(resources::secrets, {twin, "web-token"}, {}, "milan"));
    CHECK(world.reaches([&] { return token().has_value(); }, 1min));
    CHECK(world.events("FailedSATokensReflection").empty());
    REQUIRE(world.reaches([&] { return !world.events("FailedSATokensReflection").empty(); }, 2h));
    CHECK(world.events("FailedSATokensReflection").front().contains("is not renewed and expires"));
    world.pass(10min);
    CHECK(world.events("FailedSATokensReflection").size() == 1);
    CHECK(kube::object_at(token()->tree(), {"data"}) == data);
    (void)world.server.remove(resources::pods, {shop, "web"}, {}, "user");
    world.pass(10s);
    (void)world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "milan");
    CHECK(world.reaches([&] { return !token().has_value(); }, 2min));
  }
}

TEST_CASE("a provider that lets a ShadowPod mount a token gets none that home would not give the pod") {
  Offloading world;
  create_robot(world, "web");
  world.run_at_milan("web");
  std::size_t asked = 0;
  world.refuses = [&](const kube::HttpRequest& request) {
    if (request.method == "POST" && request.target.contains("/serviceaccounts/")) ++asked;
    return "";
  };
  REQUIRE(world.milan.update(
      {kinds::shadow_pods, {twin, "web"}},
      [](json::object& next) {
        const json::object item{{"key", core::token_key("kube-api-access-x", "token")}, {"path", "token"}};
        json::object& pod = kube::ensure_object(kube::ensure_object(next, "spec"), "pod");
        json::object& projected =
            kube::ensure_object(kube::ensure_array(pod, "volumes").at(0).as_object(), "projected");
        projected["sources"] =
            json::array{json::object{{"secret", json::object{{"name", "web-token"}, {"items", json::array{item}}}}}};
      },
      "admin"));
  world.pass(5min);
  CHECK(asked == 0);
  CHECK_FALSE(world.at_milan(resources::secrets, "web-token").has_value());
  CHECK(world.events("FailedSATokensReflection").empty());
}

namespace {

/// A pod of the account `default` that mounts these tokens, by their audiences.
void create_client(Offloading& world, std::string_view name, const std::vector<std::string>& audiences) {
  json::array sources;
  for (const std::string& audience : audiences) {
    json::object token{{"path", audience.empty() ? "token" : audience}};
    if (!audience.empty()) token["audience"] = audience;
    sources.push_back(json::object{{"serviceAccountToken", std::move(token)}});
  }
  kube::Object pod = kube::Object::make(resources::pods, {shop, std::string(name)});
  pod.mutable_spec() = json::object{
      {"nodeName", "milan"},
      {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}},
      {"volumes",
       json::array{json::object{{"name", "all"}, {"projected", json::object{{"sources", std::move(sources)}}}}}}};
  world.apply(resources::service_accounts, kube::Object::make(resources::service_accounts, {shop, "default"}));
  world.apply(resources::pods, pod);
}

std::size_t tokens_of(Offloading& world, std::string_view pod) {
  const auto secret = world.at_milan(resources::secrets, std::string(pod) + "-token");
  return secret ? kube::object_at(secret->tree(), {"data"}).size() : 0;
}

/// The requests for tokens whose audiences are these.
struct TokenRequests {
  std::size_t asked = 0;
  bool is_refused = false;
  std::string operator()(const kube::HttpRequest& request) {
    if (!request.target.contains("/serviceaccounts/") || request.method != "POST") return {};
    if (request.body.contains(R"("audiences":[])")) ++asked;
    return is_refused ? "liqod may not create tokens" : "";
  }
};

}  // namespace

TEST_CASE("a token with an audience of its own comes without an address of the API server, also for default") {
  Offloading world;
  TokenRequests requests;
  world.refuses = [&](const kube::HttpRequest& request) { return requests(request); };
  create_client(world, "vault", {"vault"});
  create_client(world, "cloud", {"sts", "vault", ""});
  create_client(world, "named", {"https://kubernetes.default.svc"});
  world.run_at_milan("vault");
  world.run_at_milan("cloud");
  world.run_at_milan("named");
  CHECK(tokens_of(world, "vault") == 1);
  CHECK(tokens_of(world, "cloud") == 2);
  CHECK(tokens_of(world, "named") == 0);
  CHECK(world.condition("vault", api::home_api_server_condition, "message") == "(none)");
  // The audiences were learnt once for all, and are asked for again after an hour.
  CHECK(requests.asked == 1);
  world.pass(61min);
  create_client(world, "later", {"vault"});
  world.run_at_milan("later");
  CHECK(requests.asked == 2);
  CHECK(tokens_of(world, "later") == 1);
  // Another process, which has to learn them again, renews the tokens of pods that run.
  world.stop();
  world.start();
  const auto expires = [&] {
    return std::string(
        world.at_milan(resources::secrets, "later-token")->annotation(api::annotations::token_expiration));
  };
  const std::string before = expires();
  CHECK(world.reaches([&] { return expires() > before; }, 2h));
  CHECK(requests.asked == 3);
  CHECK(world.events("FailedSATokensReflection").empty());
}

TEST_CASE("pods wait for tokens that liqod may not make, told once it lasts, and go on when it may") {
  Offloading world;
  TokenRequests requests{.asked = 0, .is_refused = true};
  world.refuses = [&](const kube::HttpRequest& request) { return requests(request); };
  create_client(world, "vault", {"vault"});
  world.pass(10s);
  CHECK(world.events("FailedSATokensReflection").empty());
  CHECK_FALSE(world.at_milan(kinds::shadow_pods, "vault").has_value());
  REQUIRE(world.reaches([&] { return !world.events("FailedSATokensReflection").empty(); }, 3min));
  CHECK(world.events("FailedSATokensReflection").front().contains("RoleBinding liqo-liqod-tokens of namespace shop"));
  world.pass(10min);
  CHECK(world.events("FailedSATokensReflection").size() == 1);
  requests.is_refused = false;
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "vault").has_value(); }, 10min));
  CHECK(tokens_of(world, "vault") == 1);
}

TEST_CASE("a pod that asks for more tokens than are brought is refused at once") {
  Offloading world;
  std::vector<std::string> audiences;
  for (int i = 0; i < 300; ++i) audiences.push_back("a" + std::to_string(i));
  create_client(world, "greedy", audiences);
  REQUIRE(world.reaches([&] { return !world.events("FailedReflection").empty(); }));
  CHECK(
      world.events("FailedReflection").front() ==
      "the pod is not sent to cluster milan: it mounts 300 tokens of service accounts, and at most 100 of one pod are "
      "brought: mount fewer");
  CHECK(tokens_of(world, "greedy") == 0);
  world.pass(10min);
  CHECK(world.times_reported("FailedReflection") == 1);
}

TEST_CASE("that default has rights and its pods no token is told once for a namespace") {
  Offloading world;
  kube::Object binding = kube::Object::make(kinds::role_bindings, {shop, "flows"});
  binding.tree()["subjects"] =
      json::array{json::object{{"kind", "ServiceAccount"}, {"name", "default"}, {"namespace", shop}}};
  world.apply(kinds::role_bindings, binding);
  create_client(world, "vault", {"vault"});
  world.run_at_milan("vault");
  world.pass(10s);
  CHECK(world.events("NoTokenOfHome").empty());
  for (const char* name : {"one", "two"}) {
    create_client(world, name, {""});
    world.run_at_milan(name);
  }
  REQUIRE(world.reaches([&] { return !world.events("NoTokenOfHome").empty(); }));
  world.pass(20min);
  CHECK(world.events("NoTokenOfHome").size() == 1);
  CHECK(world.events("NoTokenOfHome").front().contains("RoleBinding flows"));
}

namespace {

/// A binding of `kind` (role_bindings or cluster_role_bindings) that gives rights to account robot.
void bind_robot(Offloading& world, const kube::Resource& kind, std::string_view name) {
  kube::Object binding =
      kube::Object::make(kind, {kind == kinds::cluster_role_bindings ? "" : shop, std::string(name)});
  binding.tree()["subjects"] =
      json::array{json::object{{"kind", "ServiceAccount"}, {"name", "robot"}, {"namespace", shop}}};
  world.apply(kind, binding);
}

}  // namespace

TEST_CASE("that an account has rights and its pods no token is told on the NamespaceOffloading, with the setting") {
  controllers::Settings settings;
  std::string remedy = "set apiServer.hostForPods to an address that they reach";
  SUBCASE("no address is set") {}
  SUBCASE("tokens are switched off") {
    settings.offloading.api_server_mode = core::ApiServerMode::never;
    remedy = "set apiServer.support=needed";
  }
  const bool is_everywhere = remedy.contains("needed");
  Offloading world({}, settings);
  // An account without rights is reported by the condition of its pods alone.
  create_robot(world, "idle", "idler");
  world.run_at_milan("idle");
  world.pass(10s);
  CHECK(world.events("NoTokenOfHome").empty());
  bind_robot(world, is_everywhere ? kinds::cluster_role_bindings : kinds::role_bindings, "flows");
  // Those of the cluster were listed for the first account.
  if (is_everywhere) world.pass(11min);
  for (const char* name : {"one", "two"}) {
    create_robot(world, name);
    world.run_at_milan(name);
  }
  REQUIRE(world.reaches([&] { return !world.events("NoTokenOfHome").empty(); }));
  world.pass(20min);
  CHECK(world.times_reported("NoTokenOfHome") == 1);
  const std::string words = world.events("NoTokenOfHome").front();
  CHECK(words.starts_with("service account robot has rights in namespace shop ("));
  CHECK(words.contains(is_everywhere ? "ClusterRoleBinding flows" : "RoleBinding flows"));
  CHECK(words.contains(remedy));
  for (const auto& event : world.server.list(resources::events))
    if (kube::string_at(*event, {"reason"}) == "NoTokenOfHome")
      CHECK(kube::string_at(*event, {"involvedObject", "kind"}) == "NamespaceOffloading");
}

}  // namespace liqo::testing
