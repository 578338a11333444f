// The provider's half of Services: ShadowEndpointSlice → EndpointSlice, with the addresses that may be.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "controllers/common/runnable.hpp"
#include "controllers/reflection/own_addresses.hpp"
#include "core/reflection/endpoint_slice_plan.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Serves all consumers of this cluster. A slice depends on its EndpointSlice, on the policy, network and health of its
/// consumer, and on the addresses of this cluster; it is looked at a quarter of a second after one of these or itself
/// has changed, and written at most once a second. One thread.
class ShadowEndpointSliceController final : public Runnable {
 public:
  explicit ShadowEndpointSliceController(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  /// What is known of a consumer, until something of it changes.
  struct Consumer {
    std::string tenant_namespace, foreign_cluster;
    core::admission::PodPolicy policy;
    core::ConsumerAddresses addresses;
    bool reachable = false;
  };
  struct Memory {
    std::string uid, consumer;
    kube::TimePoint written{};  ///< when its EndpointSlice was last written
    std::vector<core::IpAddress> judged;
    std::set<std::string> direct;
    std::size_t endpoints = 0;  ///< that its EndpointSlice has, of those that the consumer may have
    std::string told;           ///< the declaration by which addresses were left out when that was last told
    std::string refused;        ///< the refusal that was last told
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Outcome> write(kube::Object shadow, std::optional<kube::Object> live, kube::Object wanted);
  asio::awaitable<kube::Outcome> remove(kube::ObjectKey key, std::string uid);
  /// Has the EndpointSlice be as the ShadowEndpointSlice wants it.
  asio::awaitable<kube::Outcome> follow(kube::ObjectKey key);
  /// Sees whose object an apply has met that was to create one, and takes back what it did to somebody else's.
  asio::awaitable<kube::Outcome> settle(kube::ObjectKey key);
  core::EndpointSlicePlan plan(const kube::Object& shadow, const kube::Object* live);
  /// The UID of the EndpointSlice that is left under a key without a ShadowEndpointSlice that counts, "" = none. The
  /// consumer can keep one that is being deleted with a finalizer, and have an EndpointSlice outlive its own.
  std::string left_behind(const kube::ObjectKey& key, const kube::Object* shadow) const;
  /// Whether all is known by which addresses are judged.
  bool can_judge() const;
  void forget(const kube::ObjectKey& key);
  /// The endpoints of a ShadowEndpointSlice do not count any more.
  void give_back(Memory& memory);
  /// Tells what is left out or refused, unless that was told before.
  void tell(const kube::Object& shadow, const kube::Object* live, const core::EndpointSlicePlan& plan);
  /// The consumer whose twin a namespace is; "" = nobody's.
  std::string consumer_of(const std::string& ns) const;
  const Consumer& look_at(const std::string& consumer);

  void take_namespace(const kube::ObjectKey& key);
  void take_foreign_cluster(const kube::ObjectKey& key);
  void take_configuration(const kube::ObjectKey& key);
  void take_own(const core::OwnAddresses::Change& change);
  void enqueue(const kube::ObjectKey& key);
  /// Enqueues the slices of a consumer of which something has changed, over a while.
  void enqueue_consumer(const std::string& consumer);
  void enqueue_all();
  void spread(const std::vector<kube::ObjectKey>& keys);

  Context context_;
  kube::InformerHandle shadows_, slices_, namespaces_, foreign_clusters_, configurations_;
  OwnAddressWatch own_;
  std::map<std::string, Consumer> consumers_;
  std::unordered_map<kube::ObjectKey, Memory> memory_;
  std::set<kube::ObjectKey> unsure_;  ///< names under which something was to be made that may be somebody else's
  std::map<kube::ObjectKey, kube::TimePoint> late_;  ///< until when such a request may still be carried out
  std::map<std::string, std::size_t> endpoints_;     ///< of all EndpointSlices of a consumer
  kube::Controller controller_;
};

}  // namespace liqo::controllers
