// Which Secrets the pods of a provider's virtual nodes refer to.
// Tested by test/unit/controllers/offloading/pod_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/runtime/informer_set.hpp"

namespace liqo::controllers {

/// Counts references by namespace: those of pods, those by which the ServiceAccounts of these pods pull images, and
/// those that it is told of. A pod is read when it is new, and when it gets ephemeral containers. Of
/// ServiceAccounts there is one watch at home, for all namespaces and providers. One thread.
class SecretReferences {
 public:
  using Handler = std::function<void(const std::string& ns)>;

  /// `changed` is called with each namespace in which another set of Secrets is referred to, or needs_all() changes.
  SecretReferences(kube::InformerSet& home, Handler changed) : home_(home), changed_(std::move(changed)) {}

  /// Whose pods count, by the names of their nodes.
  void set_nodes(const std::set<std::string>& nodes);
  /// What an object that is not a pod refers to, e.g. an Ingress; none = it is gone.
  void set(const std::string& ns, const std::string& name, std::vector<std::string> secrets);
  /// The Secrets of a namespace that something refers to.
  std::set<std::string> of(const std::string& ns) const;
  /// Whether all of a namespace are needed: its pods stay here, so that those who use them at the provider are not
  /// known.
  bool needs_all(const std::string& ns) const { return staying_.contains(ns); }
  /// Whether the pods of all nodes are known, what their ServiceAccounts say, and where pods stay.
  bool has_synced() const;

 private:
  struct Pod {
    std::string uid, account;
    std::size_t ephemeral = 0;  ///< how many ephemeral containers it has: they are only ever added
    std::vector<std::string> secrets;
  };
  struct Node {
    kube::InformerHandle pods;
    std::map<kube::ObjectKey, Pod> read;
  };
  /// A ServiceAccount that pods run as.
  struct Account {
    int pods = 0;
    std::vector<std::string> secrets;
  };
  /// `pod`: what is there now; null = it is gone.
  void read(const std::string& node, const kube::ObjectKey& key, const kube::Object* pod);
  /// Counts what a pod refers to, with its ServiceAccount, once more or once less.
  void count(const kube::ObjectKey& key, const Pod& pod, int by);
  void read_account(const kube::ObjectKey& key);
  void read_offloading(const kube::ObjectKey& key);
  /// Counts one more, or one less, of each.
  void count(const std::string& ns, const std::vector<std::string>& secrets, int by);

  kube::InformerSet& home_;
  Handler changed_;
  kube::InformerHandle accounts_, offloadings_;  ///< from the first node on
  std::set<std::string> staying_;                ///< namespaces whose pods are not offloaded
  std::map<std::string, Node> nodes_;
  std::map<kube::ObjectKey, Account> used_;
  std::map<kube::ObjectKey, std::vector<std::string>> others_;
  std::map<std::string, std::map<std::string, int>> counts_;  ///< by namespace and Secret
};

}  // namespace liqo::controllers
