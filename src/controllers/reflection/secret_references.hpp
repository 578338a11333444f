// Finds the Secrets to which the pods of a provider's virtual nodes refer.
// Tested by test/unit/controllers/offloading/pod_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/runtime/informer_set.hpp"

namespace liqo::controllers {

/// Counts references by namespace: those of pods, the image pull secrets of their ServiceAccounts, and those that are
/// passed to set(). A pod is read when it is new, and when it gets ephemeral containers. There is one watch of
/// ServiceAccounts at home, for all namespaces and providers. One thread.
class SecretReferences {
 public:
  using Handler = std::function<void(const std::string& ns)>;

  /// `changed` is called with each namespace whose set of referenced Secrets, or needs_all(), changes.
  SecretReferences(kube::InformerSet& home, Handler changed) : home_(home), changed_(std::move(changed)) {}

  /// Sets the names of the nodes whose pods count.
  void set_nodes(const std::set<std::string>& nodes);
  /// Sets the Secrets to which an object other than a pod refers, e.g. an Ingress; none = it is gone.
  void set(const std::string& ns, const std::string& name, std::vector<std::string> secrets);
  /// The Secrets of a namespace that something refers to.
  std::set<std::string> of(const std::string& ns) const;
  /// Those of them that pods name themselves.
  std::set<std::string> named_by_pods(const std::string& ns) const;
  /// Whether all Secrets of a namespace are needed: its pods stay here, so their users at the provider are not known.
  bool needs_all(const std::string& ns) const { return staying_.contains(ns); }
  /// Whether the pods of all nodes are known, their ServiceAccounts, and the namespaces whose pods stay here.
  bool has_synced() const;

 private:
  struct Pod {
    std::string uid, account;
    std::size_t ephemeral = 0;  ///< the number of ephemeral containers, which are only ever added
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
  /// `pod`: its present state; null = it is gone.
  void read(const std::string& node, const kube::ObjectKey& key, const kube::Object* pod);
  /// Counts the references of a pod and its ServiceAccount, once more or once less.
  void count(const kube::ObjectKey& key, const Pod& pod, int by);
  void read_account(const kube::ObjectKey& key);
  void read_offloading(const kube::ObjectKey& key);
  using Counts = std::map<std::string, std::map<std::string, int>>;  ///< by namespace and Secret
  /// Adds `by` to the count of each Secret. Returns whether one is referred to now and was not before, or the other way
  /// round.
  static bool add(Counts& counts, const std::string& ns, const std::vector<std::string>& secrets, int by);
  static std::set<std::string> names(const Counts& counts, const std::string& ns);
  void count(const std::string& ns, const std::vector<std::string>& secrets, int by);

  kube::InformerSet& home_;
  Handler changed_;
  kube::InformerHandle accounts_, offloadings_;  ///< acquired with the first node
  std::set<std::string> staying_;                ///< namespaces whose pods are not offloaded
  std::map<std::string, Node> nodes_;
  std::map<kube::ObjectKey, Account> used_;
  std::map<kube::ObjectKey, std::vector<std::string>> others_;
  Counts counts_, by_pods_;  ///< all references, and those of pods alone
};

}  // namespace liqo::controllers
