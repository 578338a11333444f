// The trust bundles of home that a pod mounts elsewhere.
#include "core/offloading/trust_bundles.hpp"

#include "../objects.hpp"
#include "core/offloading/dropped_fields.hpp"
#include "core/offloading/shadow_pod.hpp"

namespace liqo::core {
namespace {

using namespace testing;

const bool reads = true, reads_not = false;

ForgingContext trusting(const bool* readable = &reads) {
  ForgingContext ctx = context();
  ctx.trust_bundles = TrustBundles::home;
  ctx.reads_trust_bundles = readable;
  return ctx;
}

constexpr std::string_view volumes = R"({"volumes": [{"name": "v", "projected": {"sources": [
    {"configMap": {"name": "c"}},
    {"clusterTrustBundle": {"name": "ca", "path": "a.pem", "user": 6}},
    {"clusterTrustBundle": {"signerName": "example.com/x", "labelSelector": {}, "optional": true, "path": "b.pem"}}]}},
  {"name": "w", "projected": {"sources": [{"clusterTrustBundle": {"name": "ca", "path": "c.pem"}}]}}]})";

kube::Object trusting_pod(std::string_view metadata = "{}") { return local_pod("{}", volumes, metadata); }

const json::array& sources_of(const kube::Object& shadow, std::size_t volume) {
  return kube::array_at(kube::array_at(shadow.spec(), {"pod", "volumes"}).at(volume), {"projected", "sources"});
}

kube::Object bundle(std::string_view signer, std::string_view labels) {
  kube::Object made = parse(R"({"kind": "ClusterTrustBundle", "metadata": {"name": "x"}, "spec": {}})");
  made.mutable_spec()["signerName"] = signer;
  made.mutable_metadata()["labels"] = parse_value(labels);
  return made;
}

std::string pem(std::string_view base64) {
  return "-----BEGIN CERTIFICATE-----\n" + std::string(base64) + "\n-----END CERTIFICATE-----\n";
}

}  // namespace

TEST_CASE("trust bundles are read from one ConfigMap, in which each is once") {
  const kube::Object pod = trusting_pod();
  const TrustSources sources = trust_sources(pod);
  REQUIRE(sources.size() == 2);
  const auto forged = forge_shadow_pod(pod, "shop-rome", trusting());
  REQUIRE(forged);
  CHECK(forged->foreign_fields.empty());
  const json::array& first = sources_of(forged->shadow, 0);
  REQUIRE(first.size() == 3);
  CHECK(kube::string_at(first[0], {"configMap", "name"}) == "c");
  const std::string copy = trust_copy_name(sources);
  for (std::size_t i = 1; i < first.size(); ++i) {
    CHECK(kube::string_at(first[i], {"configMap", "name"}) == copy);
    CHECK_FALSE(first[i].as_object().contains("clusterTrustBundle"));
  }
  const json::value& item = kube::array_at(first[1], {"configMap", "items"}).at(0);
  CHECK(kube::string_at(item, {"path"}) == "a.pem");
  CHECK(kube::int_at(item, {"user"}) == 6);
  const json::value& other = kube::array_at(sources_of(forged->shadow, 1).at(0), {"configMap", "items"}).at(0);
  CHECK(kube::string_at(other, {"path"}) == "c.pem");
  CHECK(kube::string_at(other, {"key"}) == kube::string_at(item, {"key"}));
  CHECK_FALSE(other.as_object().contains("user"));
  CHECK(mounts_trust_copy(forged->shadow, sources));
  CHECK_FALSE(mounts_trust_copy(forged->shadow, {}));
}

TEST_CASE("a pod keeps the bundles of its provider if it asks for that, or those of home are not read") {
  struct Case {
    std::string_view metadata;
    ForgingContext ctx;
    bool is_told;
  };
  const std::string_view by_annotation = R"({"annotations": {"liqo.io/downward-api": "provider"}})";
  const std::string_view by_server = R"({"annotations": {"liqo.io/api-server-support": "remote"}})";
  ForgingContext switched_off = trusting();
  switched_off.trust_bundles = TrustBundles::provider;
  for (const Case& c :
       {Case{by_annotation, trusting(), false}, Case{by_server, trusting(), false},
        Case{"{}", trusting(&reads_not), true}, Case{"{}", trusting(nullptr), true}, Case{"{}", switched_off, true}}) {
    CAPTURE(c.metadata);
    const auto forged = forge_shadow_pod(trusting_pod(c.metadata), "shop-rome", c.ctx);
    REQUIRE(forged);
    CHECK(kube::string_at(sources_of(forged->shadow, 0).at(1), {"clusterTrustBundle", "name"}) == "ca");
    CHECK_FALSE(mounts_trust_copy(forged->shadow, trust_sources(trusting_pod())));
    CHECK(forged->foreign_fields.empty() != c.is_told);
  }
  CHECK_FALSE(wants_home_trust(local_pod(), trusting()));
}

TEST_CASE("a source takes the bundles of its signer whose labels it names") {
  struct Case {
    std::string_view selector, labels;
    bool takes;
  };
  for (const Case& c : std::initializer_list<Case>{
           {R"({})", R"({})", true},
           {R"({})", R"({"a": "b"})", true},
           {R"({"matchLabels": {"a": "b"}})", R"({"a": "b", "c": "d"})", true},
           {R"({"matchLabels": {"a": "b"}})", R"({"a": "c"})", false},
           {R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]})", R"({"a": "c"})", true},
           {R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]})", R"({})", false},
           {R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]})", R"({})", true},
           {R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]})", R"({"a": "b"})", false},
           {R"({"matchExpressions": [{"key": "a", "operator": "Exists"}]})", R"({"a": ""})", true},
           {R"({"matchExpressions": [{"key": "a", "operator": "Exists"}]})", R"({})", false},
           {R"({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]})", R"({})", true},
           {R"({"matchExpressions": [{"key": "a", "operator": "Near"}]})", R"({})", false},
       }) {
    CAPTURE(c.selector);
    CAPTURE(c.labels);
    TrustSource source{.key = "k", .name = "", .signer = "example.com/x", .selector = std::nullopt};
    CHECK_FALSE(selects(source, bundle("example.com/x", c.labels)));
    source.selector = parse_value(c.selector).as_object();
    CHECK(selects(source, bundle("example.com/x", c.labels)) == c.takes);
    CHECK_FALSE(selects(source, bundle("example.com/y", c.labels)));
  }
}

TEST_CASE("certificates are written once each, without what stands between them") {
  const std::vector<std::string> texts{"first\n" + pem("Yg==") + pem("YQ=="),
                                       pem("Yg==") + "-----BEGIN CERTIFICATE-----"};
  CHECK(merge_anchors(texts) == pem("YQ==") + pem("Yg=="));
  CHECK(merge_anchors({}) == "");
  const std::string line(64, 'A');
  CHECK(merge_anchors(std::vector<std::string>{pem(line + line)}) == pem(line + "\n" + line));
}

TEST_CASE("what is missing or too large is told in one sentence") {
  const TrustSources sources = trust_sources(trusting_pod());
  const ClusterPair clusters = context().clusters;
  TrustTexts texts;
  for (const TrustSource& source : sources) note_missing(texts, source);
  CHECK(texts.by_key.size() == 1);
  CHECK(texts.by_key.begin()->second.empty());
  CHECK(describe_trust(texts, clusters) ==
        "the pod waits in cluster remote-cluster for ClusterTrustBundle \"ca\", which cluster local-cluster does not "
        "have: create what is missing, or mount it with optional: true");
  TrustTexts signer;
  note_missing(signer, {.key = "k", .name = "", .signer = "example.com/x", .selector = std::nullopt});
  CHECK(describe_trust(signer, clusters)
            .contains("for ClusterTrustBundles of signer \"example.com/x\" with the labels that it names, which"));
  texts.by_key["k"] = std::string(max_trust_bytes, 'x');
  CHECK(describe_trust(texts, clusters) ==
        "the trust bundles of this pod have 513 KiB together, and at most 512 KiB are brought to cluster "
        "remote-cluster: mount fewer or smaller ones");
  CHECK(describe_trust({}, clusters) == "");
}

TEST_CASE("the ConfigMap is known by its label, and its content by a digest") {
  const ClusterPair clusters = context().clusters;
  TrustTexts texts;
  texts.by_key["k"] = "text";
  const kube::Object copy = forge_trust_copy({"shop-rome", "trust-of-home-1"}, texts, clusters);
  CHECK(kube::string_at(copy.tree(), {"data", "k"}) == "text");
  CHECK(is_trust_copy(copy, clusters));
  CHECK_FALSE(is_trust_copy(copy, {.local = "other", .remote = clusters.remote}));
  // Reflection removes what has its labels and no original.
  CHECK_FALSE(copy.has_label("offloading.liqo.io/origin"));
  CHECK(is_up_to_date(copy, forge_trust_copy(copy.key(), texts, clusters)));
  texts.by_key["k"] = "other";
  CHECK_FALSE(is_up_to_date(copy, forge_trust_copy(copy.key(), texts, clusters)));
}

}  // namespace liqo::core
