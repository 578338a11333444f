// Two virtual nodes of one provider, each with its own credentials: their shared state, and the work of each.
#include <algorithm>
#include <set>

#include "../offloading_fixture.hpp"
#include "kube/base/url.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

/// The requests over the connection of one virtual node.
struct Line {
  bool is_refused = false;  ///< the provider does not accept the credentials any more
  bool is_dead = false;     ///< it leads nowhere any more
  bool is_renewed = false;  ///< it goes on with credentials that have changed
  int renewals = 0;
  std::vector<std::string> watches, lists, orders;
  int token_lists = 0;  ///< of the Secrets with tokens in a twin
};

class CountedLink final : public PlainLink {
 public:
  CountedLink(kube::testing::SimLink& link, Line& line) : PlainLink(link), line_(line) {}
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline deadline) override {
    if (line_.is_refused) co_return refusal("unknown certificate", 401);
    if (line_.is_dead) co_return kube::fail(kube::Errc::connect, "there is no such host");
    const std::string path(kube::path_of(request.target));
    if (request.verb == "watch") line_.watches.push_back(path);
    if (request.verb == "list") line_.lists.push_back(path);
    if (request.verb == "list" && path == resources::secrets.path(twin))
      line_.token_lists += request.target.contains("labelSelector=") ? 1 : 0;
    if (request.verb == "create" && request.resource == "shadowpods") line_.orders.push_back(path);
    co_return co_await PlainLink::send(std::move(request), deadline);
  }
  bool renew(const kube::Object&) override {
    line_.renewals += line_.is_renewed ? 1 : 0;
    return line_.is_renewed;
  }

 private:
  Line& line_;
};

struct TwoNodes : Offloading {
  TwoNodes() {
    stop();
    connect = [this](const std::string&,
                     const kube::Object& secret) -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
      return std::make_unique<CountedLink>(to_milan, lines[std::string(secret.name())]);
    };
    kube::Object secret = kube::Object::make(resources::secrets, {tenant, "kubeconfig-other"});
    secret.tree()["data"] = json::object{{"kubeconfig", kube::encode_base64("milan")}};
    apply(resources::secrets, secret);
    pass(2s);
    kube::Object node = virtual_node("other");
    change(kinds::virtual_nodes, node.key(), "", [](json::object& next) {
      next["spec"].as_object()["kubeconfigSecretRef"] = json::object{{"name", "kubeconfig-other"}};
    });
    start();
    REQUIRE(reaches([&] { return has(resources::nodes, {"", "other"}); }));
  }
  // Before the connections are closed, which sessions may begin to use up to the end.
  ~TwoNodes() { stop(); }

  Line& milan_line() { return lines["kubeconfig"]; }
  Line& other_line() { return lines["kubeconfig-other"]; }
  /// How often a watch, or a list, of the twin's pods was begun.
  static std::ptrdiff_t of_pods(const std::vector<std::string>& paths) {
    return std::ranges::count(paths, resources::pods.path(twin));
  }
  /// Whether the provider is read over the connection of milan, as soon as it is read.
  bool milan_reads() {
    REQUIRE(reaches([this] { return of_pods(milan_line().watches) + of_pods(other_line().watches) > 0; }));
    return of_pods(milan_line().watches) > 0;
  }
  void config_map(std::string_view name, std::string_view value) {
    kube::Object out = kube::Object::make(resources::config_maps, {shop, std::string(name)});
    out.tree()["data"] = json::object{{"key", value}};
    apply(resources::config_maps, out);
  }
  std::string copied(std::string_view name) {
    const auto copy = at_milan(resources::config_maps, name);
    return copy ? std::string(kube::string_at(copy->tree(), {"data", "key"})) : "";
  }
  void create_on_other(std::string_view name) { create_pod(name, "1", 30, "other"); }

  std::map<std::string, Line> lines;
};

}  // namespace

TEST_CASE("virtual nodes of one provider share its watches, and order their pods each by its own credentials") {
  TwoNodes world;
  world.pass(5s);
  // The twin rests until there are pods.
  for (Line* line : {&world.milan_line(), &world.other_line()}) line->watches.clear();
  world.create_pod("first");
  world.run_at_milan("first");
  world.create_on_other("second");
  world.run_at_milan("second");
  for (const kube::Resource& kind : {resources::pods, kinds::shadow_pods}) {
    const std::string path = kind.path(twin);
    CHECK(std::ranges::count(world.milan_line().watches, path) + std::ranges::count(world.other_line().watches, path) ==
          1);
  }
  CHECK(world.milan_line().orders.size() == 1);
  CHECK(world.other_line().orders.size() == 1);
  // Nodes show the version of the provider's Kubernetes.
  CHECK(world.reaches([&] {
    return kube::string_at(world.find(resources::nodes, {"", "milan"})->status(), {"nodeInfo", "kubeletVersion"}) ==
           "v1.35.4";
  }));
}

TEST_CASE("a provider is read once the pods at home are known, and half a minute after the start in any case") {
  bool are_known = true;
  const auto hide = [&](kube::HttpRequest& request) {
    if (!are_known && request.resource == "pods") request.target = "/hidden";
  };
  for (const bool are_known_later : {true, false}) {
    CAPTURE(are_known_later);
    are_known = true;
    std::vector<std::string> read;
    Offloading world(hide);
    world.refuse = [&](const kube::HttpRequest& request) {
      const std::string path(kube::path_of(request.target));
      if (path == resources::pods.path(twin)) read.push_back(path);
      return std::string();
    };
    world.stop();
    read.clear();
    are_known = false;
    world.start({});
    world.pass(20s);
    CHECK(read.empty());
    are_known = are_known_later;
    CHECK(world.reaches([&] { return !read.empty(); }, 15s));
  }
}

TEST_CASE("virtual nodes of one provider ask once which tokens are left in a twin") {
  TwoNodes world;
  world.pass(1min);
  CHECK(world.milan_line().token_lists + world.other_line().token_lists == 1);
}

TEST_CASE("what a provider shows that is of no pod of a virtual node wakes none") {
  TwoNodes world;
  world.create_pod("web");
  world.run_at_milan("web");
  world.pass(1min);
  const auto woken = [&] {
    const std::string text = world.metrics(), series = "workqueue_adds_total{controller=\"pod\",name=\"pod\"} ";
    const std::size_t at = text.find(series);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + series.size()));
  };
  const double before = woken();
  for (int i = 0; i < 10; ++i) {
    kube::Object foreign = kube::Object::make(resources::pods, {twin, "foreign-" + std::to_string(i)});
    foreign.mutable_spec()["containers"] = json::array{json::object{{"name", "main"}, {"image", "shop:1"}}};
    REQUIRE(world.milan.create(resources::pods, foreign.tree(), "milan").has_value());
    world.pass(1s);
    world.change_at_milan(foreign.name(), "status",
                          [](json::object& next) { kube::ensure_object(next, "status")["phase"] = "Running"; });
    world.pass(1s);
    static_cast<void>(world.milan.remove(resources::pods, foreign.key(), {.grace_period_seconds = 0}, "milan"));
  }
  world.pass(1s);
  CHECK(woken() == before);
  // One that has the name of a pod here, or is of this node, does.
  world.change_at_milan("web", "status", [](json::object& next) { next["status"].as_object()["message"] = "fine"; });
  CHECK(world.reaches([&] { return kube::string_at(world.local("web")->status(), {"message"}) == "fine"; }));
  CHECK(woken() > before);
}

TEST_CASE("where the provider does not know the credentials any more that are read by, those of another node are") {
  TwoNodes world;
  world.config_map("words", "ciao");
  REQUIRE(world.reaches([&] { return world.copied("words") == "ciao"; }));
  const bool milan_reads = world.milan_reads();
  Line& reads = milan_reads ? world.milan_line() : world.other_line();
  Line& takes_over = milan_reads ? world.other_line() : world.milan_line();
  CHECK(TwoNodes::of_pods(takes_over.watches) == 0);

  reads.is_refused = true;
  world.config_map("words", "salve");
  CHECK(world.reaches([&] { return world.copied("words") == "salve"; }, 2min));
  world.create_pod("web", "1", 30, milan_reads ? "other" : "milan");
  world.run_at_milan("web");
  // It stays in use when the others are usable again: another change would restart all watches.
  reads.is_refused = false;
  world.pass(1min);
  const std::size_t watches = reads.watches.size();
  world.pass(2min);
  CHECK(reads.watches.size() == watches);
}

TEST_CASE("a connection that leads nowhere leaves the other virtual nodes of the provider alone") {
  TwoNodes world;
  const bool milan_reads = world.milan_reads();
  (milan_reads ? world.milan_line() : world.other_line()).is_dead = true;
  world.to_milan.refuse();
  world.pass(1s);
  world.to_milan.heal();
  world.create_pod("web", "1", 30, milan_reads ? "other" : "milan");
  world.run_at_milan("web");
}

TEST_CASE("the end of the process lends no connection for a moment") {
  TwoNodes world;
  const bool milan_reads = world.milan_reads();
  Line& idle = milan_reads ? world.other_line() : world.milan_line();
  world.stop();
  CHECK(idle.watches.empty());
}

TEST_CASE("a session that begins where another one has read all looks at what is left of its pods") {
  TwoNodes world;
  world.create_pod("stays");
  world.run_at_milan("stays");
  world.create_on_other("goes");
  world.run_at_milan("goes");
  // Its pod is removed while there is no session: the Secret cannot be used.
  world.change(resources::secrets, {tenant, "kubeconfig-other"}, "",
               [](json::object& next) { next["data"] = json::object{{"kubeconfig", kube::encode_base64("new")}}; });
  (void)world.server.remove(resources::pods, {shop, "goes"}, {.grace_period_seconds = 0}, "operator");
  CHECK(world.reaches([&] { return !world.at_milan(kinds::shadow_pods, "goes"); }));
  CHECK(world.at_milan(kinds::shadow_pods, "stays"));
}

TEST_CASE("what virtual nodes share outlives each of them, and goes with the last") {
  TwoNodes world;
  world.config_map("words", "ciao");
  REQUIRE(world.reaches([&] { return world.copied("words") == "ciao"; }));
  world.create_on_other("web");
  world.run_at_milan("web");
  const auto reads = [&] {
    return TwoNodes::of_pods(world.milan_line().lists) + TwoNodes::of_pods(world.other_line().lists);
  };
  const auto read = reads();
  (void)world.server.remove(kinds::virtual_nodes, {tenant, "milan"}, {}, "operator");
  REQUIRE(world.reaches([&] { return !world.has(resources::nodes, {"", "milan"}); }));
  world.config_map("words", "salve");
  CHECK(world.reaches([&] { return world.copied("words") == "salve"; }));
  world.change_at_milan("web", "status", [](json::object& next) { next["status"].as_object()["message"] = "fine"; });
  CHECK(world.reaches([&] { return kube::string_at(world.local("web")->status(), {"message"}) == "fine"; }));
  CHECK(reads() == read);

  static_cast<void>(world.server.remove(resources::pods, {shop, "web"}, {}, "operator"));
  REQUIRE(world.reaches([&] { return !world.at_milan(kinds::shadow_pods, "web"); }));
  static_cast<void>(world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "milan"));
  REQUIRE(world.reaches([&] { return !world.local("web"); }));
  (void)world.server.remove(kinds::virtual_nodes, {tenant, "other"}, {}, "operator");
  REQUIRE(world.reaches([&] { return !world.has(resources::nodes, {"", "other"}); }, 5min));
  world.pass(1s);
  const std::size_t watches = world.milan_line().watches.size() + world.other_line().watches.size();
  world.pass(1h);
  CHECK(world.milan_line().watches.size() + world.other_line().watches.size() == watches);
}

TEST_CASE("credentials that cannot be used leave the session as it is, and are told each time that they come") {
  const std::string broken = kube::encode_base64("broken");
  Offloading world({}, {}, [&](Offloading& rome) {
    rome.connect = [&, connect = rome.connect](
                       const std::string& cluster,
                       const kube::Object& secret) -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
      if (kube::string_at(secret.tree(), {"data", "kubeconfig"}) == broken)
        return kube::fail(kube::Errc::invalid_input, "it is no kubeconfig");
      return connect(cluster, secret);
    };
  });
  const auto set_kubeconfig = [&](const std::string& data) {
    world.change(resources::secrets, {tenant, "kubeconfig"}, "",
                 [&](json::object& next) { next["data"] = json::object{{"kubeconfig", data}}; });
  };
  for (int times = 1; times <= 2; ++times) {
    set_kubeconfig(broken);
    CHECK(world.reaches([&] { return world.times_reported("ProviderUnusable") == times; }));
    const std::string name = "web-" + std::to_string(times);
    world.create_pod(name);
    world.run_at_milan(name);
    set_kubeconfig(kube::encode_base64("milan"));
    // Events with the same text within five minutes are one.
    world.pass(10min);
  }
}

TEST_CASE("a provider that shows more than can be read is told, reads on when it shows less, and its pods run on") {
  controllers::Settings settings;
  settings.links.provider_cache_mib = 64;
  Offloading world({}, settings, [](Offloading& rome) {
    rome.change(kinds::virtual_nodes, {tenant, "milan"}, "", [](json::object& next) {
      next.at("spec").at("resourceQuota").at("hard").as_object()["memory"] = "8Gi";
    });
  });
  world.create_pod("web");
  world.run_at_milan("web");
  world.create_pod("dense");
  world.run_at_milan("dense");
  const auto told = [&world](const kube::Resource& resource, const kube::ObjectKey& key, std::string_view type) {
    const auto object = world.find(resource, key);
    const json::object* condition = object ? kube::find_condition(object->status(), type) : nullptr;
    return condition ? std::string(kube::string_at(*condition, {"status"})) + ": " +
                           std::string(kube::string_at(*condition, {"message"}))
                     : std::string();
  };
  const auto node = [&] { return told(resources::nodes, {"", "milan"}, "Ready"); };
  REQUIRE(world.reaches([&] { return node().starts_with("True"); }));
  // 600 KB of text become a tree of more than 16 MiB with what its parser holds besides.
  world.change_at_milan("dense", "status", [](json::object& next) {
    kube::ensure_array(kube::ensure_object(next, "status"), "numbers").resize(300'000, 0);
  });
  CHECK(world.reaches(
      [&] { return node().starts_with("False: cluster milan shows more than can be read of one provider: "); }));
  CHECK(node().contains("of 16 MiB are in use"));
  const auto session = [&] { return told(kinds::virtual_nodes, {tenant, "milan"}, "VirtualKubelet"); };
  CHECK(world.reaches([&] { return session().starts_with("Creating: cluster milan shows more than can be read"); }));
  CHECK(world.reaches([&] { return world.times_reported("ProviderUnusable") == 1; }));
  // The caches stay.
  CHECK(kube::string_at(world.local("web")->status(), {"phase"}) == "Running");
  CHECK(world.has(resources::nodes, {"", "milan"}));

  world.change_at_milan("dense", "status",
                        [](json::object& next) { kube::ensure_object(next, "status").erase("numbers"); });
  CHECK(world.reaches([&] { return node().starts_with("True"); }, 6min));
  CHECK(world.reaches([&] { return session().starts_with("Running"); }));
  world.change_at_milan("web", "status", [](json::object& next) { next["status"].as_object()["message"] = "fine"; });
  CHECK(world.reaches([&] { return kube::string_at(world.local("web")->status(), {"message"}) == "fine"; }));
}

TEST_CASE("a session that is made anew for new credentials reads nothing of the provider again") {
  TwoNodes world;
  (void)world.server.remove(kinds::virtual_nodes, {tenant, "other"}, {}, "operator");
  REQUIRE(world.reaches([&] { return !world.has(resources::nodes, {"", "other"}); }));
  world.create_pod("web");
  world.run_at_milan("web");
  const auto read = TwoNodes::of_pods(world.milan_line().lists);
  world.change(resources::secrets, {tenant, "kubeconfig"}, "",
               [](json::object& next) { next["data"] = json::object{{"kubeconfig", kube::encode_base64("new")}}; });
  world.pass(1s);
  world.change_at_milan("web", "status", [](json::object& next) { next["status"].as_object()["message"] = "fine"; });
  CHECK(world.reaches([&] { return kube::string_at(world.local("web")->status(), {"message"}) == "fine"; }));
  CHECK(TwoNodes::of_pods(world.milan_line().lists) == read);
}

TEST_CASE("a connection that goes on with new credentials keeps the session, its caches and its watches") {
  TwoNodes world;
  world.create_pod("web");
  world.run_at_milan("web");
  Line& line = world.milan_line();
  line.is_renewed = true;
  const auto renew = [&world](std::string_view text) {
    world.change(resources::secrets, {tenant, "kubeconfig"}, "",
                 [&](json::object& next) { next["data"] = json::object{{"kubeconfig", kube::encode_base64(text)}}; });
    world.pass(1s);
  };
  const auto lists = TwoNodes::of_pods(line.lists);
  const auto watches = line.watches.size();
  renew("new");
  CHECK(line.renewals == 1);
  CHECK(TwoNodes::of_pods(line.lists) == lists);
  CHECK(line.watches.size() == watches);
  world.change_at_milan("web", "status", [](json::object& next) { next["status"].as_object()["message"] = "fine"; });
  CHECK(world.reaches([&] { return kube::string_at(world.local("web")->status(), {"message"}) == "fine"; }));
  // A session whose credentials were refused is made again.
  line.is_refused = true;
  world.pass(1min);
  line.is_refused = false;
  renew("newer");
  CHECK(line.renewals == 1);
  world.change_at_milan("web", "status", [](json::object& next) { next["status"].as_object()["message"] = "well"; });
  CHECK(world.reaches([&] { return kube::string_at(world.local("web")->status(), {"message"}) == "well"; }));
}

}  // namespace liqo::testing
