#include "core/admission/validations.hpp"

#include <doctest/doctest.h>

#include "core/admission/tenant_rules.hpp"
#include "reviews.hpp"

using namespace liqo::core::admission;
using liqo::test::creating;
using liqo::test::object_of;
using liqo::test::updating;

namespace {

const std::vector<std::string> tenants{"liqo.io", "system:authenticated"};
const std::string replica_labels =
    R"("liqo.io/replicated":"true","liqo.io/replication":"false","liqo.io/originID":"rome","liqo.io/remoteID":"milan",
       "liqo.io/remote-cluster-id":"rome")";

std::string slice(std::string_view labels, std::string_view spec = "{}", std::string_view annotations = "{}",
                  std::string_view name = "s") {
  return R"({"metadata":{"name":")" + std::string(name) + R"(","labels":{)" + std::string(labels) +
         R"(},"annotations":)" + std::string(annotations) + R"(},"spec":)" + std::string(spec) + "}";
}

/// So many amounts as JSON.
std::string resource_list(int count) {
  json::object list;
  for (int i = 0; i < count; ++i) list["example.com/r" + std::to_string(i)] = "1";
  return json::serialize(list);
}

void check(const Answer& answer, std::string_view word) {
  CHECK(answer.allowed == word.empty());
  CHECK(answer.message.find(word) != std::string::npos);
  if (!word.empty()) CHECK(answer.message != "");
}

}  // namespace

TEST_CASE("a consumer only creates replicas of its own objects") {
  const struct {
    std::string object;
    std::string_view word;
  } cases[] = {
      {slice(replica_labels, R"({"consumerClusterID":"rome"})"), ""},
      {slice(""), "liqo.io/replicated must be \"true\""},
      {slice(R"("liqo.io/replication":"true","liqo.io/remoteID":"milan")"), "liqo.io/replicated must be"},
      {slice(R"("liqo.io/replicated":"true","liqo.io/replication":"true","liqo.io/originID":"rome")"),
       "liqo.io/replication must be"},
      {slice(R"("liqo.io/replicated":"true","liqo.io/originID":"turin","liqo.io/remote-cluster-id":"rome")"),
       "liqo.io/originID must be \"rome\""},
      {slice(R"("liqo.io/replicated":"true","liqo.io/originID":"rome","liqo.io/remote-cluster-id":"turin")"),
       "liqo.io/remote-cluster-id must be \"rome\""},
      {slice(replica_labels, R"({"consumerClusterID":"turin"})"), "in the name of another cluster"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.object);
    check(check_replica(creating(each.object, "rome", tenants)), each.word);
    check(check_replica(creating(each.object, "admin", {"system:authenticated"})), "");
  }
}

TEST_CASE("a consumer keeps the labels and marks that are the provider's") {
  const std::string plain = slice(replica_labels);
  const std::string cordoned = slice(replica_labels, "{}", R"({"liqo.io/cordon-tenant":"true"})");
  const struct {
    std::string before, after;
    std::string_view word;
  } cases[] = {
      {plain, plain, ""},
      {cordoned, cordoned, ""},
      {plain, slice(replica_labels, "{}", R"({"note":"x"})"), ""},
      {plain, slice(replica_labels + R"(,"team":"x")"), ""},
      {plain, slice(R"("liqo.io/replicated":"true")"), "cannot be removed"},
      {cordoned, plain, "liqo.io/cordon-tenant cannot be removed"},
      {plain, slice(replica_labels, "{}", R"({"liqo.io/cordon":"false"})"), "liqo.io/cordon cannot be added"},
      {plain, slice(replica_labels, "{}", R"({"liqo.io/cordoned-resource":"1"})"), "cordoned-resource cannot be added"},
      {slice(replica_labels, "{}", R"({"liqo.io/cordon":"true"})"),
       slice(replica_labels, "{}", R"({"liqo.io/cordon":"false"})"), "liqo.io/cordon cannot be changed"},
      {plain, slice(replica_labels, R"({"consumerClusterID":"turin"})"), "in the name of another cluster"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.after);
    check(check_replica(updating(each.before, each.after, "rome", tenants)), each.word);
    check(check_replica(updating(each.before, each.after, "admin")), "");
  }
}

TEST_CASE("a consumer changes nothing but its replicas, also where this cluster asks it for resources") {
  const std::string ours =
      slice(R"("liqo.io/replication":"true","liqo.io/remoteID":"rome","liqo.io/remote-cluster-id":"rome")");
  const std::string theirs =
      slice(R"("liqo.io/replicated":"true","liqo.io/originID":"turin","liqo.io/remote-cluster-id":"turin")");
  for (const std::string& object : {ours, theirs}) {
    CAPTURE(object);
    check(check_replica(updating(object, object, "rome", tenants)), "is no copy of an object of user \"rome\"");
    check(check_replica(updating(object, object, "admin")), "");
  }
}

TEST_CASE("finalizers of replicas and Tenants are the provider's") {
  const auto with = [](std::string_view finalizers) {
    return R"({"metadata":{"name":"x","labels":{)" + replica_labels + R"(},"finalizers":)" + std::string(finalizers) +
           R"(},"spec":{}})";
  };
  const std::string plain = with("[]"), held = with(R"(["liqo.io/a"])"), more = with(R"(["liqo.io/a","b.c/d"])");
  using Rule = Answer (*)(const Request&);
  for (const Rule rule : {Rule(check_replica), Rule([](const Request& r) { return check_tenant_writer(r); })}) {
    check(rule(creating(plain, "rome", tenants)), "");
    check(rule(creating(held, "rome", tenants)), "finalizers of");
    check(rule(updating(held, held, "rome", tenants)), "");
    check(rule(updating(held, plain, "rome", tenants)), "finalizers of");
    check(rule(updating(held, slice(replica_labels), "rome", tenants)), "finalizers of");
    check(rule(updating(held, more, "rome", tenants)), "finalizers of");
    check(rule(updating(held, plain, "admin")), "");
  }
}

TEST_CASE("of a consumer's Secrets none holds a token, and in the tenant namespace it only asks for a nonce") {
  const auto secret = [](std::string_view name, std::string_view labels = "", std::string_view rest = "") {
    return R"({"metadata":{"name":")" + std::string(name) + R"(","labels":{)" + std::string(labels) + "}}" +
           std::string(rest) + "}";
  };
  const std::string token = R"(,"type":"kubernetes.io/service-account-token")";
  const std::string peer = "liqo-peer-user-rome-0011";
  const std::string asked = R"("liqo.io/nonce":"true","liqo.io/remote-cluster-id":"rome","team":"x")";
  const struct {
    std::string object;
    std::string_view to_peer, to_slice;  ///< words of the refusals
  } cases[] = {
      {secret("liqo-nonce", asked), "", ""},
      {secret("liqo-nonce", asked, R"(,"type":"Opaque","data":{})"), "", ""},
      {secret("liqo-nonce", asked, R"(,"data":{"nonce":"eA=="})"), "must be empty", ""},
      {secret("liqo-nonce", asked, R"(,"immutable":true)"), "cannot be immutable", ""},
      {secret("liqo-nonce", asked, R"(,"immutable":false)"), "", ""},
      {R"({"metadata":{"name":"liqo-nonce","finalizers":["x.io/y"]}})", "cannot have finalizers", ""},
      {secret("liqo-nonce", asked, token), "service-account-token", "service-account-token"},
      {secret("web", "", token), "service-account-token", "service-account-token"},
      {secret("web"), "\"web\" cannot be created", ""},
      {secret(""), "\"\" cannot be created", ""},
      {secret("liqo-nonce", R"("liqo.io/signed-nonce":"true")"), "liqo.io/signed-nonce", ""},
      {secret("liqo-nonce", R"("liqo.io/identity-type":"ControlPlane")"), "liqo.io/identity-type", ""},
      {secret("liqo-nonce", R"("offloading.liqo.io/origin":"rome")"), "offloading.liqo.io/origin", ""},
      {secret("liqo-nonce", R"("notliqo.io/x":"y")"), "", ""},
  };
  for (const auto& each : cases) {
    CAPTURE(each.object);
    check(check_secret(creating(each.object, peer, tenants), "rome"), each.to_peer);
    check(check_secret(creating(each.object, "pool-1f00", {"rome"}), "rome"), each.to_slice);
    check(check_secret(creating(each.object, "pool-1f00", {"rome"}), "paris"), "");
    check(check_secret(creating(each.object, "admin", {"system:authenticated"}), "rome"), "");
    check(check_secret(creating(each.object, "admin", {""}), ""), "");
    check(check_secret(updating(each.object, each.object, peer, tenants), "rome"), "");
  }
}

TEST_CASE("the status of a replica is not the consumer's") {
  auto request = updating(slice(replica_labels), slice(replica_labels), "rome", tenants);
  request.subresource = "status";
  request.plural = "resourceslices";
  check(validate_resource_slice(request, {}), "status of resourceslices");
  check(validate_namespace_map(request), "status of resourceslices");
  request.user = {"system:serviceaccount:liqo:liqo", {}};
  check(validate_resource_slice(request, {}), "");
}

TEST_CASE("slices have short names, once in a cluster, and amounts") {
  const std::string long_name(51, 'x'), fits(50, 'x');
  const std::vector<std::string> taken{"liqo-tenant-milan/s"};
  check(validate_resource_slice(creating(slice("", "{}", "{}", fits)), {}), "");
  check(validate_resource_slice(creating(slice("", "{}", "{}", long_name)), {}), "50 characters");
  check(validate_resource_slice(creating(slice(replica_labels, "{}", "{}", long_name)), {}), "50 characters");
  check(validate_resource_slice(creating(slice("")), taken), "liqo-tenant-milan/s");
  check(validate_resource_slice(creating(slice(replica_labels)), taken), "");
  for (const auto& [resources, word] : std::vector<std::pair<std::string, std::string_view>>{
           {R"({"cpu":"4","memory":1024,"nvidia.com/gpu":"0"})", ""},
           {R"({"cpu":"-1"})", "spec.resources: cpu is -1: it cannot be negative"},
           {R"({"cpu":"four"})", "spec.resources: cpu: \"four\" is not a quantity"},
           {R"({"cpu":{}})", "spec.resources: cpu: {} is not a quantity"},
           {resource_list(64), ""},
           {resource_list(65), "names 65 resources, and a ResourceSlice can have 64 at most"},
           {R"(["cpu"])", "must map"},
           {"{\"" + std::string(1'000, 'r') + "\":\"many\"}", "spec.resources: rrr"}}) {
    const std::string spec = R"({"resources":)" + resources + "}";
    check(validate_resource_slice(creating(slice("", spec)), {}), word);
    check(validate_resource_slice(updating(slice(""), slice("", spec)), {}), word);
    // What is stored can lose its finalizers.
    check(validate_resource_slice(updating(slice("", spec), slice("", spec)), {}), "");
  }
  // The provider's controller of another class decides what is too much for it.
  const std::string gold = R"({"class":"gold","resources":)";
  check(validate_resource_slice(creating(slice("", gold + resource_list(65) + "}")), {}), "");
  check(validate_resource_slice(creating(slice("", gold + resource_list(257) + "}")), {}), "more than 256 resources");
}

TEST_CASE("a consumer asks by so many objects and no more") {
  const std::string_view slice = R"({"metadata":{"name":"s","namespace":"liqo-tenant-rome"}})";
  CHECK(asks_for_more(creating(slice, "rome", {"liqo.io"})));
  CHECK_FALSE(asks_for_more(creating(slice, "rome", {"system:masters"})));
  CHECK_FALSE(asks_for_more(updating(slice, slice, "rome", {"liqo.io"})));

  CHECK(check_amount("resourceslices", 63, 64).allowed);
  CHECK_FALSE(check_amount("resourceslices", 64, 64).allowed);
  CHECK(check_amount("resourceslices", 64, 64).message ==
        "there are 64 resourceslices of this consumer already, and 64 is what it may have: delete one, or ask the "
        "provider for more (maxObjects in the policy)");
  CHECK_FALSE(check_amount("resourceslices", 0, 0).allowed);
}

TEST_CASE("a Tenant belongs into the tenant namespace of its cluster, alone") {
  const auto tenant = [](std::string_view label, std::string_view id) {
    return R"({"metadata":{"name":"rome","namespace":"t","labels":{"liqo.io/remote-cluster-id":")" +
           std::string(label) + R"("}},"spec":{"clusterID":")" + std::string(id) + R"("}})";
  };
  const std::vector<std::string> other{"other"};
  const TenantSurroundings good{
      .is_tenant_namespace = true, .namespace_cluster = "rome", .in_namespace = {}, .namesakes = {}};
  check(validate_tenant(creating(tenant("rome", "rome")), good), "");
  check(validate_tenant(creating(tenant("turin", "rome")), good), "must be equal");
  check(validate_tenant(creating(tenant("turin", "turin")), good), "tenant namespace of \"rome\"");
  TenantSurroundings around = good;
  around.is_tenant_namespace = false;
  check(validate_tenant(creating(tenant("rome", "rome")), around), "is not the tenant namespace");
  around = good;
  around.in_namespace = other;
  check(validate_tenant(creating(tenant("rome", "rome")), around), "has a Tenant already");
  check(validate_tenant(updating(tenant("rome", "rome"), tenant("rome", "rome")), around), "");
  around = good;
  around.namesakes = other;
  check(validate_tenant(creating(tenant("rome", "rome")), around), "in namespace other");

  // The provider answers a Tenant in its status; nothing is known, nor asked, about the namespace then.
  auto answering = updating(tenant("rome", "rome"), tenant("rome", "rome"));
  answering.subresource = "status";
  check(validate_tenant(answering, {}), "");

  const auto unlabelled = creating(R"({"metadata":{"name":"rome"},"spec":{"clusterID":"rome"}})");
  CHECK(mutate_tenant(unlabelled).patch ==
        json::parse(R"([{"op":"add","path":"/metadata/labels","value":{"liqo.io/remote-cluster-id":"rome"}}])"));
  CHECK(mutate_tenant(creating(tenant("turin", "rome"))).patch.empty());
  CHECK(mutate_foreign_cluster(creating(tenant("turin", "rome"))).patch.size() == 1);
  CHECK(mutate_foreign_cluster(creating(tenant("rome", "rome"))).patch.empty());
}

TEST_CASE("a peering user sets no policy") {
  const std::string peer = "liqo-peer-user-rome-0011";
  const auto tenant = [](std::string_view metadata, std::string_view spec) {
    return R"({"metadata":{"name":"rome")" + std::string(metadata) + R"(},"spec":{"clusterID":"rome")" +
           std::string(spec) + "}}";
  };
  const std::string plain = tenant("", "");
  const struct {
    std::string after;
    std::string_view word;
  } cases[] = {
      {plain, ""},
      {tenant("", R"(,"publicKey":"a2V5","csr":"Y3Ny","signature":"eA==")"), ""},
      {tenant("", R"(,"authzPolicy":"KeysExchange","tenantCondition":"Active")"), ""},
      {tenant(R"(,"annotations":{"note":"x"})", ""), ""},
      {tenant("", R"(,"authzPolicy":"TolerateNoHandshake")"), "spec.authzPolicy"},
      {tenant("", R"(,"tenantCondition":"Drained")"), "spec.tenantCondition"},
      {tenant(R"(,"labels":{"liqo.io/webhook-skip":"true"})", ""), "liqo.io/webhook-skip"},
      {tenant(R"(,"annotations":{"liqo.io/sharing-percentage":"100"})", ""), "liqo.io/sharing-percentage"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.after);
    check(check_tenant_writer(creating(each.after, peer, tenants)), each.word);
    check(check_tenant_writer(updating(plain, each.after, peer, tenants)), each.word);
    check(check_tenant_writer(creating(each.after, "admin")), "");
  }
  const std::string drained =
      tenant(R"(,"annotations":{"liqo.io/keep-pods":"true"})", R"(,"tenantCondition":"Drained")");
  check(check_tenant_writer(updating(drained, drained, peer, tenants)), "");
  check(check_tenant_writer(updating(drained, plain, peer, tenants)), "liqo.io/keep-pods");
  // Every mark of the provider, whatever becomes of it.
  for (const char* mark : {"liqo.io/sharing-percentage", "liqo.io/keep-pods", "liqo.io/cordon", "liqo.io/cordon-tenant",
                           "liqo.io/cordoned-resource", "liqo.io/pod-policy", "offloading.liqo.io/twin-pod-security"}) {
    CAPTURE(mark);
    const auto marked = [&](const char* value) {
      return tenant(R"(,"annotations":{")" + std::string(mark) + R"(":")" + value + R"("})", "");
    };
    check(check_tenant_writer(creating(marked("50"), peer, tenants)), mark);
    check(check_tenant_writer(updating(plain, marked("50"), peer, tenants)), mark);
    check(check_tenant_writer(updating(marked("50"), marked("99"), peer, tenants)), mark);
    check(check_tenant_writer(updating(marked("50"), plain, peer, tenants)), mark);
    check(check_tenant_writer(updating(marked("50"), marked("50"), peer, tenants)), "");
    check(check_tenant_writer(updating(plain, marked("50"), "admin")), "");
  }

  // Created again it is what it was, whatever the peering user would like it to be; an administrator decides afresh.
  const std::string kept = R"({"tenantCondition":"Drained","annotations":{"liqo.io/keep-pods":"true"}})";
  check(check_tenant_writer(creating(drained, peer, tenants), kept), "");
  check(check_tenant_writer(creating(plain, peer, tenants), kept), "liqo.io/keep-pods");
  check(
      check_tenant_writer(creating(tenant(R"(,"annotations":{"liqo.io/keep-pods":"true"})", ""), peer, tenants), kept),
      "spec.tenantCondition");
  check(check_tenant_writer(creating(plain, "admin"), kept), "");
  const Answer mutated = mutate_tenant(
      creating(tenant(R"(,"labels":{"liqo.io/remote-cluster-id":"rome"})", R"(,"tenantCondition":"Active")"), peer,
               tenants),
      kept);
  CHECK(json::serialize(mutated.patch) ==
        R"([{"op":"add","path":"/spec/tenantCondition","value":"Drained"},)"
        R"({"op":"add","path":"/metadata/annotations","value":{"liqo.io/keep-pods":"true"}}])");
  CHECK(mutate_tenant(creating(drained, "admin"), kept).patch.size() == 1);
}

TEST_CASE("a NamespaceOffloading is validated as a whole") {
  const auto made = [](std::string_view spec, std::string_view name = "offloading") {
    return R"({"metadata":{"namespace":"shop","name":")" + std::string(name) + R"("},"spec":)" + std::string(spec) +
           "}";
  };
  const struct {
    std::string object;
    std::string_view word;
  } creations[] = {
      {made("{}"), ""},
      {made("{}", "other"), "must be called \"offloading\""},
      {made(R"({"namespaceMappingStrategy":"SelectedName"})"), "spec.remoteNamespaceName is needed"},
      {made(R"({"namespaceMappingStrategy":"SelectedName","remoteNamespaceName":"twin"})"), ""},
      {made(R"({"namespaceMappingStrategy":"SelectedName","remoteNamespaceName":"Twin!"})"), "cannot be the name"},
      {made(R"({"namespaceMappingStrategy":"SelectedName","remoteNamespaceName":"kube-system"})"), "keeps for itself"},
      {made(R"({"clusterSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In",
                "values":["b"]}]}]}})"),
       ""},
      {made(R"({"clusterSelector":{"nodeSelectorTerms":[{},{"matchExpressions":[{"key":"a","operator":"Is"}]}]}})"),
       "nodeSelectorTerms[1].matchExpressions[0]: operator \"Is\""},
      {made(R"({"clusterSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"operator":"Exists"}]}]}})"),
       "is not the key of a label"},
      {made(R"({"clusterSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In"}]}]}})"),
       "In needs at least one value"},
  };
  for (const auto& each : creations) {
    CAPTURE(each.object);
    check(validate_namespace_offloading(creating(each.object)), each.word);
  }
  const auto update = [&](std::string_view before, std::string_view after) {
    return validate_namespace_offloading(updating(made(before), made(after)));
  };
  check(update("{}", R"({"namespaceMappingStrategy":"DefaultName"})"), "");
  check(update("{}", R"({"namespaceMappingStrategy":"EnforceSameName"})"),
        "namespaceMappingStrategy cannot be changed");
  check(update(R"({"remoteNamespaceName":"a"})", R"({"remoteNamespaceName":"b"})"), "remoteNamespaceName cannot be");
  const auto warned = update("{}", R"({"podOffloadingStrategy":"Local"})").warnings;
  REQUIRE(warned.size() == 2);
  CHECK(warned.back().contains("all Secrets of namespace"));
  CHECK(update("{}", R"({"podOffloadingStrategy":"Remote"})").warnings.size() == 1);
  CHECK(update(R"({"podOffloadingStrategy":"Local"})", "{}").warnings.empty());
}

TEST_CASE("the twins of a NamespaceMap can be namespaces of a consumer") {
  const auto map = [](std::string_view mapping) {
    return R"({"metadata":{"name":"milan","labels":{)" + replica_labels + R"(}},"spec":{"desiredMapping":)" +
           std::string(mapping) + "}}";
  };
  for (const auto& [mapping, word] :
       std::vector<std::pair<std::string, std::string_view>>{{R"({"a":"a-rome","b":"b-rome"})", ""},
                                                             {"null", ""},
                                                             {R"({"a":"kube-system"})", "keeps for itself"},
                                                             {R"({"a":"A!"})", "cannot be the name"},
                                                             {R"({"a":""})", "cannot be the name"},
                                                             {R"({"a":1})", "must be text"},
                                                             {R"({"a":"x","b":"x"})", "cannot share one"},
                                                             {R"(["a"])", "must map"}}) {
    CAPTURE(mapping);
    check(validate_namespace_map(creating(map(mapping), "rome", tenants)), word);
    check(validate_namespace_map(updating(map(mapping), map(mapping), "rome", tenants)), "");
  }
}

TEST_CASE("a VirtualNode gets its defaults, and never another's node") {
  const auto request = creating(R"({"metadata":{"name":"milan"},"spec":{"clusterID":"milan"}})");
  CHECK(mutate_virtual_node(request).patch == json::parse(R"([{"op":"add","path":"/spec/createNode","value":true},
                        {"op":"add","path":"/spec/disableNetworkCheck","value":false}])"));
  CHECK(mutate_virtual_node(creating(R"({"metadata":{"name":"milan"}})")).patch ==
        json::parse(R"([{"op":"add","path":"/spec","value":{"createNode":true,"disableNetworkCheck":false}}])"));
  CHECK(mutate_virtual_node(creating(R"({"metadata":{"name":"m"},"spec":{"createNode":false,
                                         "disableNetworkCheck":true}})"))
            .patch.empty());
  // What it leaves open is as its template says, but only when it is made.
  const auto options = object_of(R"({"metadata":{"name":"x"},"spec":{"createNode":false,"disableNetworkCheck":true}})");
  CHECK(needs_options_template(request));
  CHECK(mutate_virtual_node(request, &options).patch ==
        json::parse(R"([{"op":"add","path":"/spec/createNode","value":false},
                        {"op":"add","path":"/spec/disableNetworkCheck","value":true}])"));
  const auto half = creating(R"({"metadata":{"name":"m"},"spec":{"createNode":true,"disableNetworkCheck":null}})");
  CHECK(needs_options_template(half));
  CHECK(mutate_virtual_node(half, &options).patch ==
        json::parse(R"([{"op":"add","path":"/spec/disableNetworkCheck","value":true}])"));
  CHECK_FALSE(needs_options_template(
      creating(R"({"metadata":{"name":"m"},"spec":{"createNode":true,"disableNetworkCheck":true}})")));
  const auto later = updating(R"({"metadata":{"name":"m"},"spec":{"clusterID":"milan"}})",
                              R"({"metadata":{"name":"m"},"spec":{"clusterID":"milan"}})");
  CHECK_FALSE(needs_options_template(later));
  CHECK(mutate_virtual_node(later, &options).patch ==
        json::parse(R"([{"op":"add","path":"/spec/createNode","value":true},
                        {"op":"add","path":"/spec/disableNetworkCheck","value":false}])"));
  const auto broken = object_of(R"({"metadata":{"name":"x"},"spec":{"createNode":"no"}})");
  CHECK(mutate_virtual_node(request, &broken).patch == mutate_virtual_node(request).patch);
  const auto worker = object_of(R"({"metadata":{"name":"milan"}})");
  const auto leftover = object_of(R"({"metadata":{"name":"milan","labels":{"liqo.io/type":"virtual-node"}}})");
  check(check_node_of(request, nullptr, {}), "");
  check(check_node_of(request, &worker, {}), "is not virtual");
  // What a removed VirtualNode left behind is taken over, unless its pods run elsewhere.
  const auto of_cluster = [](std::string_view cluster) {
    return object_of(
        R"({"metadata":{"name":"milan","labels":{"liqo.io/type":"virtual-node","liqo.io/remote-cluster-id":")" +
        std::string(cluster) + "\"}}}");
  };
  check(check_node_of(request, &leftover, {}), "");
  const auto of_milan = of_cluster("milan"), of_turin = of_cluster("turin");
  check(check_node_of(request, &of_milan, {}), "");
  check(check_node_of(request, &of_turin, {}), "is of cluster \"turin\"");
  const std::vector<std::string> namesake{"liqo-tenant-turin/milan"};
  check(check_node_of(request, &of_milan, namesake),
        "there is a VirtualNode of that name already, liqo-tenant-turin/milan");
  check(check_node_of(request, nullptr, namesake), "needs another name, or that one has to go first");
  check(validate_virtual_node(request), "");
  check(validate_virtual_node(creating(R"({"metadata":{"name":"a)" + std::string(70, 'b') + R"("},"spec":{}})")), "63");
  check(validate_virtual_node(creating(R"({"metadata":{"name":"m"},"spec":{"resourceQuota":{"hard":{"cpu":"-1"}}}})")),
        "cannot be negative");
  check(validate_virtual_node(updating(R"({"metadata":{"name":"m"},"spec":{"clusterID":"milan"}})",
                                       R"({"metadata":{"name":"m"},"spec":{"clusterID":"turin"}})")),
        "spec.clusterID cannot be changed");
}

TEST_CASE("a Quota has one user and no negative amount") {
  const auto quota = [](std::string_view spec) {
    return R"({"metadata":{"name":"q","namespace":"t"},"spec":)" + std::string(spec) + "}";
  };
  const std::vector<std::string> other{"t/other"};
  const std::string good = R"({"user":"u","resources":{"cpu":"4"}})";
  check(validate_quota(creating(quota(good)), {}), "");
  check(validate_quota(creating(quota(good)), other), "has a Quota already, t/other");
  check(validate_quota(updating(quota(good), quota(good)), other), "");
  check(validate_quota(updating(quota(R"({"user":"v"})"), quota(good)), other), "has a Quota already");
  check(validate_quota(creating(quota(R"({"resources":{}})")), {}), "spec.user is empty");
  check(validate_quota(creating(quota(R"({"user":"u","resources":{"cpu":"-4"}})")), {}), "cannot be negative");
}
