// Counts how often kubeconfigs are parsed, however often ForeignClusters change.
#include "controllers/peering/peer_servers.hpp"

#include <doctest/doctest.h>

#include "kube/base/base64.hpp"
#include "kube/k8s/resource.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

/// The Secrets of one tenant namespace.
struct Secrets {
  explicit Secrets(std::string of) : ns(std::move(of)) {
    store.add_index(std::string(secrets_by_provider), [](const kube::Object& secret, std::vector<std::string>& out) {
      out.emplace_back(secret.label(api::labels::remote_cluster_id));
    });
  }
  void put(const std::string& name, std::string_view cluster, std::string_view server) {
    kube::Object secret = kube::Object::make(kube::resources::secrets, {ns, name});
    secret.mutable_metadata()["resourceVersion"] = std::to_string(++version);
    secret.mutable_metadata()["uid"] = "u-" + name;
    secret.set_label(api::labels::remote_cluster_id, cluster);
    const std::string text = R"({"clusters": [{"name": "c", "cluster": {"server": ")" + std::string(server) +
                             R"(", "certificate-authority-data": "Y2E="}}],
      "users": [{"name": "u", "user": {"token": "t"}}],
      "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "current-context": "x"})";
    secret.tree()["data"] = kube::json::object{{"kubeconfig", kube::encode_base64(text)}};
    static_cast<void>(store.put(secret));
  }
  void remove(const std::string& name) { static_cast<void>(store.remove({ns, name}, ++version)); }
  std::string server(PeerServers& servers, const std::string& cluster) {
    return servers.server({ns, cluster}, store,
                          [&] { return *store.find(store.keys(secrets_by_provider, cluster).front()); });
  }

  std::string ns;
  kube::Store store;
  std::uint64_t version = 0;
};

}  // namespace

TEST_CASE("a kubeconfig is read once for each state of its Secret") {
  PeerServers servers;
  Secrets milan("liqo-tenant-milan");
  milan.put("a", "milan", "https://one.example:6443");
  servers.see(milan.ns, milan.store, "milan");
  for (int i = 0; i < 50; ++i) CHECK(milan.server(servers, "milan") == "https://one.example:6443");
  CHECK(servers.reads() == 1);
  // Another peer's Secret in the same namespace changes nothing.
  milan.put("b", "turin", "https://turin.example:6443");
  CHECK(milan.server(servers, "milan") == "https://one.example:6443");
  CHECK(servers.reads() == 1);
  milan.put("a", "milan", "https://two.example:6443");
  CHECK(milan.server(servers, "milan") == "https://two.example:6443");
  CHECK(milan.server(servers, "milan") == "https://two.example:6443");
  CHECK(servers.reads() == 2);
  // A kubeconfig that cannot be parsed is not tried again either.
  milan.put("a", "milan", "::");
  CHECK(milan.server(servers, "milan").empty());
  CHECK(milan.server(servers, "milan").empty());
  CHECK(servers.reads() == 3);
}

TEST_CASE("of a restored database a Secret of the same version is read again") {
  PeerServers servers;
  Secrets before("liqo-tenant-milan"), restored("liqo-tenant-milan");
  before.put("a", "milan", "https://one.example:6443");
  servers.see(before.ns, before.store, "milan");
  CHECK(before.server(servers, "milan") == "https://one.example:6443");
  restored.put("a", "milan", "https://two.example:6443");
  servers.see(restored.ns, restored.store, "milan");
  CHECK(restored.server(servers, "milan") == "https://two.example:6443");
}

TEST_CASE("the first tenant namespace with a Secret for a peer is found, and not once it is gone") {
  PeerServers servers;
  Secrets one("liqo-tenant-a"), other("liqo-tenant-b");
  CHECK_FALSE(servers.namespace_of("milan"));
  other.put("s", "milan", "https://b.example:6443");
  servers.see(other.ns, other.store, "milan");
  CHECK(servers.namespace_of("milan") == "liqo-tenant-b");
  one.put("s", "milan", "https://a.example:6443");
  servers.see(one.ns, one.store, "milan");
  CHECK(servers.namespace_of("milan") == "liqo-tenant-a");
  one.remove("s");
  servers.see(one.ns, one.store, "milan");
  CHECK(servers.namespace_of("milan") == "liqo-tenant-b");
  servers.forget(other.ns);
  CHECK_FALSE(servers.namespace_of("milan"));
}

}  // namespace liqo::controllers
