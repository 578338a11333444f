// Who decides on which kind: reads what a rule of core/admission needs to know, and asks the rule.
#pragma once

#include "core/namespaces/namespace_selection.hpp"
#include "core/policy/pod_policy.hpp"
#include "kube/runtime/informer_set.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "quota/quota_ledger.hpp"
#include "webhook/admission_server.hpp"
#include "webhook/callers.hpp"
#include "webhook/live_reads.hpp"
#include "webhook/tenant_holdings.hpp"
#include "webhook/twin_holdings.hpp"

namespace liqo::webhook {

/// What every decision is made with. Everything outlives it.
struct ReviewContext {
  kube::InformerSet& home;
  kube::Api& replica_api;                ///< only reads
  quota::QuotaLedger* ledger = nullptr;  ///< null = Quotas bind nobody
  std::string liqo_namespace = "liqo";   ///< where the usual VkOptionsTemplate is
  Callers* callers = nullptr;            ///< who asks; null = only API servers do
  /// Patterns of names of new twins where a consumer's policy has none; unset: `-<consumer>` ends them.
  std::optional<std::vector<std::string>> twin_names{};
  /// Namespaces that are offloaded as they are made. Their pods may come before their NamespaceOffloading.
  core::NamespaceSelection selected_namespaces{};
  std::size_t max_listed = 100'000;  ///< objects that are read for one decision; with more it cannot be made
};

/// Every rule of this program by its path. What is asked about often (pods, ShadowPods) is decided from caches, and a
/// cache that lacks what should be there is checked against the server before anything is refused for it. How much a
/// consumer has in its tenant namespace, and what it was offered, is decided from caches alone; the rest reads the
/// server, and keeps only what decides. One thread.
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

  asio::awaitable<Answer> mutate_pod(const Request& request, const Hold& hold);
  /// What a pod is answered that says that it carries a volume; nothing where it is a pod like any other. Waits a
  /// second at most until it is known who asks.
  asio::awaitable<std::optional<Answer>> answer_carrier(const Request& request) const;
  asio::awaitable<Answer> mutate_daemon_set(const Request& request, const Hold& hold);
  using PlanScheduling = kube::Result<kube::json::array> (*)(const kube::json::object&,
                                                             const api::NamespaceOffloading&);
  /// Carries out what the offloading of the object's namespace asks of it.
  asio::awaitable<Answer> schedule(const Request& request, PlanScheduling plan, const Hold& hold);
  Answer mutate_namespace(const Request& request) const;
  /// What the pods of a namespace follow; nothing where it is not offloaded.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> offloading_of(std::string ns, const Hold& hold);
  asio::awaitable<Answer> validate_shadow_pod(const Request& request, const Hold& hold);
  /// Asks the ledger. A caller that is not proven and would get nothing is answered once it is known who that is.
  asio::awaitable<Answer> ask_ledger(const Request& request, core::admission::PodPolicy policy) const;
  asio::awaitable<Answer> mutate_virtual_node(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_virtual_node(const Request& request, const Hold& hold);
  /// The VirtualNodes of that name in other namespaces, as the server has them now.
  asio::awaitable<kube::Result<std::vector<std::string>>> read_namesakes(const kube::Object& of, const Hold& hold);
  asio::awaitable<Answer> validate_resource_slice(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_namespace_map(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_renew(const Request& request, const Hold& hold);
  asio::awaitable<Answer> mutate_tenant(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_tenant(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_secret(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_service(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_ingress(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_claim(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_quota(const Request& request, const Hold& hold);
  /// Objects of a consumer of which nothing but their size is looked at.
  asio::awaitable<Answer> validate_twin_object(const Request& request, const Hold& hold);

  enum class Source { cache, server };
  /// A namespace, read from the server also where the cache has none; nullopt where there is none.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> read_namespace(std::string name, Source source,
                                                                            const Hold& hold);
  struct Consumer {
    std::string id;     ///< "" where the namespace is nobody's
    bool asks = false;  ///< the request is the consumer's, and changes what is looked at
    core::admission::PodPolicy policy;
    std::string mistake;  ///< why the policy cannot be understood, which is a refusal of all that is new
  };
  /// Whose namespace is written into, and its policy where that matters for the request.
  asio::awaitable<kube::Result<Consumer>> consumer_of(const Request& request, const Hold& hold);
  /// The classes that were granted to the slices of a consumer, from the caches.
  core::admission::OfferedClasses offered_classes(std::string_view consumer) const;
  /// Whether a consumer may have one more of a kind in its tenant namespace. It can get a few more than that, because
  /// replicas do not know what the others have just admitted.
  asio::awaitable<Answer> check_amount(const Request& request, kube::Resource kind, const Hold& hold);
  /// Waits a second at most until that is known.
  asio::awaitable<bool> comes_from_api_server(const Request& request) const;
  /// A consumer and its policy, from the cache.
  Consumer policy_of(std::string_view id) const;
  /// Whether an object of a consumer is small enough for how many there are, from the caches.
  Answer check_size(const Request& request, std::string_view consumer) const;
  /// The policy of a consumer's tenant namespace, from the cache.
  void read_policy(Consumer& consumer) const;
  /// The tenant namespace of a consumer, from the cache.
  std::optional<kube::Object> tenant_namespace(std::string_view cluster) const;
  /// The namespace of somebody else that would look like a twin of this consumer, "" if there is none.
  std::string namespace_of_id(std::string_view consumer, const kube::Object& tenant_namespace) const;

  ReviewContext context_;
  kube::InformerHandle namespaces_, offloadings_;
  TwinHoldings twins_;
  TenantHoldings tenants_;
  LiveReads reads_;
};

}  // namespace liqo::webhook
