// Who decides on which kind: reads what a rule of core/admission needs to know, and asks the rule.
#pragma once

#include "kube/runtime/informer_set.hpp"
#include "liqo/core/admission/pod_policy.hpp"
#include "liqo/webhook/admission_server.hpp"
#include "liqo/webhook/quota_gate.hpp"

namespace liqo::webhook {

/// What every decision is made with. Everything outlives it.
struct ReviewContext {
  kube::InformerSet& home;
  kube::Api& api;  ///< only reads
  QuotaGate& gate;
  bool enforce_quotas = true;  ///< false: the gate is not asked
};

/// Every rule of this program by its path. What is asked about often (pods, ShadowPods) is decided from caches, and a
/// cache that lacks what should be there is checked against the server before anything is refused for it; the rest
/// reads the server. One thread.
class Reviews {
 public:
  explicit Reviews(ReviewContext context);

  /// Adds a route for each path.
  void add_to(AdmissionServer& server);
  /// Why reviews cannot be decided yet, "" once they can.
  std::string waiting_for() const;

 private:
  using Answer = core::admission::Answer;
  using Request = core::admission::Request;

  asio::awaitable<Answer> mutate_pod(const Request& request);
  asio::awaitable<Answer> validate_shadow_pod(const Request& request);
  asio::awaitable<Answer> mutate_virtual_node(const Request& request);
  asio::awaitable<Answer> validate_resource_slice(const Request& request);
  asio::awaitable<Answer> validate_namespace_map(const Request& request);
  asio::awaitable<Answer> validate_renew(const Request& request);
  asio::awaitable<Answer> mutate_tenant(const Request& request);
  asio::awaitable<Answer> validate_tenant(const Request& request);
  asio::awaitable<Answer> validate_secret(const Request& request);
  asio::awaitable<Answer> validate_service(const Request& request);
  asio::awaitable<Answer> validate_ingress(const Request& request);
  asio::awaitable<Answer> validate_quota(const Request& request);

  /// A namespace, read from the server where the cache has none; nullopt where there is none.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> read_namespace(std::string name, bool afresh);
  struct Consumer {
    std::string id;  ///< "" where the namespace is nobody's
    core::admission::PodPolicy policy;
    std::string mistake;  ///< why the policy cannot be understood, which is a refusal of all that is new
  };
  /// Whose namespace is written into, and its policy where that matters for the request.
  asio::awaitable<kube::Result<Consumer>> consumer_of(const Request& request);
  /// Whether a consumer may have one more of a kind in its tenant namespace. Requests at the same time do not know of
  /// each other, so that it can be a few more.
  asio::awaitable<Answer> check_amount(const Request& request, kube::Resource kind);
  /// The policy of a consumer's tenant namespace, from the cache.
  void read_policy(Consumer& consumer) const;
  /// The tenant namespace of a consumer, from the cache.
  std::optional<kube::Object> tenant_namespace(std::string_view cluster) const;
  /// All objects of a kind.
  asio::awaitable<kube::Result<std::vector<kube::Object>>> read_all(kube::Resource kind, std::string ns,
                                                                    std::string label_selector);

  ReviewContext context_;
  kube::Log log_;
  kube::InformerHandle namespaces_, offloadings_;
};

}  // namespace liqo::webhook
