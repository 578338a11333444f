// The provider's half of Services: makes the EndpointSlice of each ShadowEndpointSlice, with the permitted addresses.
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
/// consumer, and on the addresses of this cluster. It is reconciled a quarter of a second after it or one of these has
/// changed, and written at most once a second. One thread.
class ShadowEndpointSliceController final : public Runnable {
 public:
  explicit ShadowEndpointSliceController(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  /// What is known of a consumer, until it changes.
  struct Consumer {
    std::string tenant_namespace, foreign_cluster;
    core::PodPolicy policy;
    core::ConsumerAddresses addresses;
    bool reachable = false;
  };
  struct Memory {
    std::string uid, consumer;
    kube::TimePoint written{};  ///< when its EndpointSlice was last written
    std::vector<core::IpAddress> judged;
    std::set<std::string> direct;
    std::size_t endpoints = 0;  ///< in its EndpointSlice; they count against the consumer's bound
    std::string reported;       ///< the declaration by which addresses were left out, as last reported
    std::string refused;        ///< the refusal that was last reported
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Outcome> write(kube::Object shadow, std::optional<kube::Object> live, kube::Object wanted);
  asio::awaitable<kube::Outcome> remove(kube::ObjectKey key, std::string uid);
  /// Makes the EndpointSlice match the ShadowEndpointSlice.
  asio::awaitable<kube::Outcome> follow(kube::ObjectKey key);
  /// Finds out whose object an apply has hit that was meant to create one, and reverts its effect on an object of
  /// another owner.
  asio::awaitable<kube::Outcome> settle(kube::ObjectKey key);
  core::reflection::EndpointSlicePlan plan(const kube::Object& shadow, const kube::Object* live);
  /// The UID of an EndpointSlice that is left without a ShadowEndpointSlice that counts, "" = none. A consumer can keep
  /// a ShadowEndpointSlice that is being deleted by a finalizer, and so let an EndpointSlice live too long.
  std::string left_behind(const kube::ObjectKey& key, const kube::Object* shadow) const;
  /// Whether everything that decides about addresses is known.
  bool can_judge() const;
  void forget(const kube::ObjectKey& key);
  /// Stops counting the endpoints of a ShadowEndpointSlice.
  void give_back(Memory& memory);
  /// Reports what is left out or refused, unless that was reported before.
  void report(const kube::Object& shadow, const kube::Object* live, const core::reflection::EndpointSlicePlan& plan);
  /// The consumer whose twin a namespace is; "" = it is no twin.
  std::string consumer_of(const std::string& ns) const;
  const Consumer& look_at(const std::string& consumer);

  void take_namespace(const kube::ObjectKey& key);
  void take_foreign_cluster(const kube::ObjectKey& key);
  void take_configuration(const kube::ObjectKey& key);
  void take_own(const core::OwnAddresses::Change& change);
  void enqueue(const kube::ObjectKey& key);
  /// Enqueues the slices of a consumer that has changed, spread over a while.
  void enqueue_consumer(const std::string& consumer);
  void enqueue_all();
  void spread(const std::vector<kube::ObjectKey>& keys);

  Context context_;
  kube::InformerHandle shadows_, slices_, namespaces_, foreign_clusters_, configurations_;
  OwnAddressWatch own_;
  std::map<std::string, Consumer> consumers_;
  std::unordered_map<kube::ObjectKey, Memory> memory_;
  std::set<kube::ObjectKey> unsure_;  ///< names of objects that may have been created, or may have another owner
  std::map<kube::ObjectKey, kube::TimePoint> late_;  ///< until when such a create may still be carried out
  std::map<std::string, std::size_t> endpoints_;     ///< of all EndpointSlices of a consumer
  kube::Controller controller_;
};

}  // namespace liqo::controllers
