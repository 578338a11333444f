// Which Secrets the pods of a provider's virtual nodes refer to.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/runtime/informer_set.hpp"

namespace liqo::controllers {

/// Counts references by namespace. A pod refers to what it refers to from its creation on (its ephemeral containers
/// excepted): each is read once. One thread.
class SecretReferences {
 public:
  using Handler = std::function<void(const std::string& ns)>;

  /// `changed` is called with each namespace in which another set of Secrets is referred to.
  SecretReferences(kube::InformerSet& home, Handler changed) : home_(home), changed_(std::move(changed)) {}

  /// Whose pods count, by the names of their nodes.
  void set_nodes(const std::set<std::string>& nodes);
  /// What an object that is not a pod refers to, e.g. an Ingress; none = it is gone.
  void set(const std::string& ns, const std::string& name, std::vector<std::string> secrets);
  /// The Secrets of a namespace that something refers to.
  std::set<std::string> of(const std::string& ns) const;
  /// Whether the pods of all nodes are known.
  bool has_synced() const;

 private:
  struct Pod {
    std::string uid;
    std::vector<std::string> secrets;
  };
  struct Node {
    kube::InformerHandle pods;
    std::map<kube::ObjectKey, Pod> read;
  };
  void read(const std::string& node, const kube::ObjectKey& key);
  /// Counts one more, or one less, of each.
  void count(const std::string& ns, const std::vector<std::string>& secrets, int by);

  kube::InformerSet& home_;
  Handler changed_;
  std::map<std::string, Node> nodes_;
  std::map<kube::ObjectKey, std::vector<std::string>> others_;
  std::map<std::string, std::map<std::string, int>> counts_;  ///< by namespace and Secret
};

}  // namespace liqo::controllers
