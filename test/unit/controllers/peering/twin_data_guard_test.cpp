// Twins with data that home does not want, or does not know after a restore.
#include "../storage/volumes_fixture.hpp"
#include "core/namespaces/withdrawn_twins.hpp"
#include "core/peering/forge.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kept_twins.hpp"
#include "liqo/api/namespace_map.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

const kube::ObjectKey map_key{tenant, "milan"}, replica_key{"liqo-tenant-rome", "milan"};

/// Rome replicates its NamespaceMap to milan, whose answers the test plays.
struct Guarded : Volumes {
  Guarded() {
    for (const kube::Resource& kind : {kinds::namespace_maps, kinds::resource_slices, kinds::renews}) milan.serve(kind);
    apply(resources::namespaces, core::forge_tenant_namespace("milan"));
    give_secret("kubeconfig-controlplane-milan", api::control_plane_identity);
    give_secret("kubeconfig-resourceslice-pool", api::resource_slice_identity);
    REQUIRE(reaches([&] { return asked(shop) == twin; }));
    answer(shop, twin);
    pass(1s);
  }
  void give_secret(const std::string& name, std::string_view type) {
    kube::Object secret = kube::Object::make(resources::secrets, {tenant, name});
    secret.set_label(api::labels::remote_cluster_id, "milan");
    secret.set_label(api::labels::identity_type, type);
    secret.set_annotation(annotations::remote_tenant_namespace, replica_key.ns);
    apply(resources::secrets, secret);
  }
  std::optional<kube::Object> replica() {
    const auto tree = milan.get(kinds::namespace_maps, replica_key);
    return tree ? std::optional(kube::Object(*tree)) : std::nullopt;
  }
  /// The twin that is requested of milan, "" = none.
  std::string asked(std::string_view local) {
    const auto found = replica();
    return found ? std::string(api::NamespaceMap(*found).desired_twin(local)) : "";
  }
  void answer(std::string_view local, std::string_view remote) {
    (void)milan.update(
        {kinds::namespace_maps, replica_key, "status"},
        [&](json::object& next) {
          kube::testing::ensure_path(next, {"status", "currentMapping"})[local] =
              json::object{{"remoteNamespace", remote}, {"phase", "Accepted"}};
        },
        "milan");
  }
  /// Milan has a twin of a namespace that rome, restored from a backup, does not know.
  void know_nothing_of(std::string_view local, std::string_view remote) {
    (void)milan.update(
        {kinds::namespace_maps, replica_key},
        [&](json::object& next) { kube::testing::ensure_path(next, {"spec", "desiredMapping"})[local] = remote; },
        "rome before");
    answer(local, remote);
  }
  void put_claim(const std::string& ns, const std::string& name) {
    kube::Object claim = kube::Object::make(kinds::claims, {ns, name});
    claim.set_label(api::labels::reflection_origin, "rome");
    claim.set_label(api::labels::reflection_destination, "milan");
    claim.set_annotation(annotations::virtual_claim_uid, "gone");
    claim.set_annotation(annotations::virtual_claim, "blog/" + name);
    REQUIRE(milan.create(kinds::claims, claim.tree(), "rome before").has_value());
  }
  void offload(const std::string& local) {
    apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", local}));
    apply(kinds::namespace_offloadings, kube::Object::make(kinds::namespace_offloadings, {local, "offloading"}));
  }
  std::string mark(std::string_view annotation) {
    const auto map = find(kinds::namespace_maps, map_key);
    return map ? std::string(map->annotation(annotation)) : "(no map)";
  }
  std::string told(std::string_view local) {
    const auto map = find(kinds::namespace_maps, map_key);
    return map ? std::string(kube::string_at(map->status(), {"currentMapping", local, "message"})) : "";
  }
  void give_up(std::string_view local) {
    change(kinds::namespace_maps, map_key, "", [&](json::object& next) {
      kube::ensure_object(next["metadata"].as_object(), "annotations")[annotations::gives_up] = local;
    });
  }
  void forbid_looks() {
    refuse = [](const kube::HttpRequest& request) {
      const bool is_look = request.target.find("/namespaces/blog-rome/persistentvolumeclaims") != std::string::npos;
      return is_look ? std::string("not yours") : std::string();
    };
  }
  std::vector<std::string> marked() {
    const auto map = find(kinds::namespace_maps, map_key);
    return map ? core::twins_in(*map, annotations::holds_data) : std::vector<std::string>();
  }
  /// Milan fails to list the claims of that twin.
  void fail_looks() {
    outage = [](kube::HttpRequest& request) {
      return request.target.find("/namespaces/blog-rome/persistentvolumeclaims") != std::string::npos;
    };
  }
  bool stays(std::string_view local, std::string_view remote) {
    pass(2min);
    return asked(local) == remote;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Guarded, "a twin that home does not know") {
  SUBCASE("goes where it holds nothing") {
    know_nothing_of("blog", "blog-rome");
    CHECK(reaches([&] { return asked("blog").empty(); }));
    CHECK(asked(shop) == twin);
    CHECK(events(api::reasons::twin_holds_data).empty());
  }
  SUBCASE("stays for a claim, says so, and goes when its data is given up") {
    put_claim("blog-rome", "posts");
    know_nothing_of("blog", "blog-rome");
    REQUIRE(reaches([&] { return mark(annotations::holds_data) == "blog"; }));
    CHECK(stays("blog", "blog-rome"));
    CHECK(told("blog").find("posts") != std::string::npos);
    CHECK(told("blog").find("liqoctl unoffload namespace blog --delete-volumes") != std::string::npos);
    CHECK(events(api::reasons::twin_holds_data).size() == 1);
    give_up("blog");
    CHECK(reaches([&] { return asked("blog").empty(); }));
    CHECK(reaches([&] { return mark(annotations::holds_data).empty() && mark(annotations::gives_up).empty(); }));
    CHECK(asked(shop) == twin);
  }
  SUBCASE("stays for a claim until that is gone") {
    put_claim("blog-rome", "posts");
    know_nothing_of("blog", "blog-rome");
    CHECK(stays("blog", "blog-rome"));
    (void)milan.remove(kinds::claims, {"blog-rome", "posts"}, {}, "operator");
    CHECK(reaches([&] { return asked("blog").empty(); }));
  }
  SUBCASE("stays where nobody may look, until it is given up") {
    forbid_looks();
    know_nothing_of("blog", "blog-rome");
    CHECK(stays("blog", "blog-rome"));
    CHECK(told("blog").find("may not look") != std::string::npos);
    give_up("blog");
    CHECK(reaches([&] { return asked("blog").empty(); }));
  }
  SUBCASE("is used again where its namespace is offloaded again") {
    put_claim("blog-rome", "posts");
    know_nothing_of("blog", "blog-rome");
    REQUIRE(reaches([&] { return mark(annotations::holds_data) == "blog"; }));
    offload("blog");
    CHECK(reaches([&] { return mark(annotations::holds_data).empty(); }));
    CHECK(reaches([&] { return told("blog").empty(); }));
    CHECK(asked("blog") == "blog-rome");
  }
}

TEST_CASE_FIXTURE(Guarded, "a twin that home withdraws") {
  offload("blog");
  REQUIRE(reaches([&] { return asked("blog") == "blog-rome"; }));
  answer("blog", "blog-rome");
  pass(1s);
  const auto withdraw = [&] {
    (void)server.remove(kinds::namespace_offloadings, {"blog", "offloading"}, {}, "operator");
  };
  SUBCASE("goes where nobody may look") {
    forbid_looks();
    withdraw();
    CHECK(reaches([&] { return asked("blog").empty(); }));
  }
  SUBCASE("stays for a claim of which home knows nothing, and its NamespaceOffloading waits for no volume") {
    put_claim("blog-rome", "posts");
    withdraw();
    CHECK(reaches([&] { return !has(kinds::namespace_offloadings, {"blog", "offloading"}); }));
    CHECK(stays("blog", "blog-rome"));
    CHECK(mark(annotations::holds_data) == "blog");
  }
  SUBCASE("stays while the provider does not answer") {
    put_claim("blog-rome", "posts");
    outage = [](kube::HttpRequest& request) { return request.target.find("/blog-rome/") != std::string::npos; };
    withdraw();
    CHECK(stays("blog", "blog-rome"));
  }
}

TEST_CASE_FIXTURE(Guarded, "each twin has its turn at a provider that is far away") {
  constexpr int stray = 70;
  for (int i = 0; i < stray; ++i) {
    const std::string local = "a" + std::to_string(100 + i);
    put_claim(local + "-rome", "posts");
    know_nothing_of(local, local + "-rome");
  }
  know_nothing_of("zz", "zz-rome");
  // A list takes twice as long.
  kube::Duration latency{};
  SUBCASE("half a second for a look") { latency = 250ms; }
  SUBCASE("four seconds for a look") { latency = 2s; }
  to_milan.set_faults({.latency_low = latency, .latency_high = latency});
  CHECK(reaches([&] { return asked("zz").empty() && marked().size() == stray; }, 15min));
  CHECK(asked("a100") == "a100-rome");
  CHECK(asked("a169") == "a169-rome");
}

TEST_CASE_FIXTURE(Guarded, "the mark of a twin is taken off only by a look that has found nothing") {
  put_claim("blog-rome", "posts");
  know_nothing_of("blog", "blog-rome");
  REQUIRE(reaches([&] { return mark(annotations::holds_data) == "blog"; }));
  stop();
  fail_looks();
  bool is_taken_off = false;
  refuses = [&](const kube::HttpRequest&) {
    is_taken_off = is_taken_off || mark(annotations::holds_data) != "blog";
    return std::string();
  };
  start(with_storage());
  CHECK(stays("blog", "blog-rome"));
  CHECK_FALSE(is_taken_off);
  CHECK(mark(annotations::holds_data) == "blog");
  (void)milan.remove(kinds::claims, {"blog-rome", "posts"}, {}, "operator");
  outage = [](kube::HttpRequest&) { return false; };
  CHECK(reaches([&] { return mark(annotations::holds_data).empty() && asked("blog").empty(); }, 2min));
  refuses = {};
}

TEST_CASE_FIXTURE(Guarded, "a twin whose looks fail keeps none of the others from their turn") {
  fail_looks();
  know_nothing_of("blog", "blog-rome");
  know_nothing_of("zz", "zz-rome");
  CHECK(reaches([&] { return asked("zz").empty(); }, 2min));
  CHECK(asked("blog") == "blog-rome");
}

TEST_CASE_FIXTURE(Guarded, "a provider that shows more claims at once than it is asked for is not believed") {
  // All of them stand for claims of home, so that none of them would keep the twin.
  const kube::Object here = claim("posts", "rome-1");
  for (int i = 0; i < 200; ++i) {
    kube::Object there = kube::Object::make(kinds::claims, {"blog-rome", "posts-" + std::to_string(i)});
    there.set_label(api::labels::reflection_origin, "rome");
    there.set_annotation(annotations::virtual_claim_uid, here.uid());
    there.set_annotation(annotations::virtual_claim, here.key().text());
    REQUIRE(milan.create(kinds::claims, there.tree(), "milan").has_value());
  }
  std::size_t looks = 0;
  outage = [&](kube::HttpRequest& request) {
    const std::size_t limit = request.target.find("limit=50");
    const bool is_look = request.target.find("/namespaces/blog-rome/persistentvolumeclaims") != std::string::npos;
    if (!is_look || limit == std::string::npos) return false;
    ++looks;
    request.target.replace(limit, 8, "limit=0");
    return false;
  };
  know_nothing_of("blog", "blog-rome");
  CHECK(stays("blog", "blog-rome"));
  CHECK(looks > 0);
  CHECK(looks < 30);
  outage = [](kube::HttpRequest&) { return false; };
  CHECK(reaches([&] { return asked("blog").empty(); }, 2min));
}

TEST_CASE_FIXTURE(Guarded, "a NamespaceMap that somebody deletes takes no data with it") {
  const kube::Object made = offloaded("data");
  (void)server.remove(kinds::namespace_maps, map_key, {}, "operator");
  CHECK(stays(shop, twin));
  REQUIRE(has(kinds::namespace_maps, map_key));
  CHECK(api::NamespaceMap(*find(kinds::namespace_maps, map_key)).desired_twin(shop) == twin);
  CHECK(mark(annotations::holds_data).empty());
}

TEST_CASE_FIXTURE(Guarded, "without a virtual node, home has a map that says what stays") {
  put_claim("blog-rome", "posts");
  know_nothing_of("blog", "blog-rome");
  REQUIRE(reaches([&] { return mark(annotations::holds_data) == "blog"; }));
  (void)server.remove(kinds::virtual_nodes, {tenant, "milan"}, {}, "operator");
  (void)server.remove(kinds::namespace_maps, map_key, {}, "operator");
  REQUIRE(reaches([&] { return asked(shop).empty(); }, 2min));
  CHECK(stays("blog", "blog-rome"));
  CHECK(mark(annotations::holds_data) == "blog");
  give_up("blog");
  CHECK(reaches([&] { return !replica() && !has(kinds::namespace_maps, map_key); }, 2min));
}

}  // namespace liqo::testing
