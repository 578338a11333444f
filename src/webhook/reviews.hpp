// Decides reviews of each kind: reads what a rule of core/admission needs, and applies the rule.
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

/// The dependencies of every decision. All of them outlive it.
struct ReviewContext {
  kube::InformerSet& home;
  kube::Api& replica_api;                ///< used only for reads
  quota::QuotaLedger* ledger = nullptr;  ///< null = Quotas are not enforced
  std::string liqo_namespace = "liqo";   ///< has the default VkOptionsTemplate
  Callers* callers = nullptr;            ///< judges callers; null = only API servers call
  /// Patterns of names of new twins if a consumer's policy has none; unset: their names end in `-<consumer>`.
  std::optional<std::vector<std::string>> twin_names{};
  /// Namespaces that are offloaded when they are created. Their pods may be created before their NamespaceOffloading.
  core::NamespaceSelection selected_namespaces{};
  std::size_t max_listed = 100'000;  ///< objects that are read for one decision; with more of them it fails
};

/// Every rule of liqod by its path. Frequent reviews (pods, ShadowPods) are decided from caches; if an expected object
/// is missing in a cache, the server is read before anything is refused. How much a consumer has in its tenant
/// namespace, and what it was offered, is decided from caches alone. All other reviews read the server, and keep only
/// what decides. One thread.
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
  /// The answer to a pod that claims to carry a volume; nothing if it is an ordinary pod. Waits at most a second until
  /// the caller is known.
  asio::awaitable<std::optional<Answer>> answer_carrier(const Request& request) const;
  asio::awaitable<Answer> mutate_daemon_set(const Request& request, const Hold& hold);
  using PlanScheduling = kube::Result<kube::json::array> (*)(const kube::json::object&,
                                                             const api::NamespaceOffloading&);
  /// Changes an object as the NamespaceOffloading of its namespace requires.
  asio::awaitable<Answer> schedule(const Request& request, PlanScheduling plan, const Hold& hold);
  Answer mutate_namespace(const Request& request) const;
  /// The NamespaceOffloading of a namespace; nothing if it is not offloaded.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> offloading_of(std::string ns, const Hold& hold);
  asio::awaitable<Answer> validate_shadow_pod(const Request& request, const Hold& hold);
  /// Asks the ledger. An unproven caller that would get nothing is answered only after the caller has been judged.
  asio::awaitable<Answer> ask_ledger(const Request& request, core::PodPolicy policy) const;
  asio::awaitable<Answer> mutate_virtual_node(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_virtual_node(const Request& request, const Hold& hold);
  /// The VirtualNodes of that name in other namespaces, read live.
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
  asio::awaitable<Answer> validate_disruption_budget(const Request& request, const Hold& hold);
  asio::awaitable<Answer> validate_quota(const Request& request, const Hold& hold);
  using Member = asio::awaitable<Answer> (Reviews::*)(const Request&, const Hold&);
  /// Checks the owners that an object in a twin names, and then the `rest` of it.
  asio::awaitable<Answer> with_owners(Member rest, const Request& request, const Hold& hold);
  /// Checks an object of a consumer of which only the size matters.
  asio::awaitable<Answer> validate_twin_object(const Request& request, const Hold& hold);

  enum class Source { cache, server };
  /// A namespace, read from the server if the cache has none; nullopt if there is none.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> read_namespace(std::string name, Source source,
                                                                            const Hold& hold);
  struct Consumer {
    std::string id;     ///< "" if the namespace belongs to no consumer
    bool asks = false;  ///< the request is the consumer's, and changes what is checked
    core::PodPolicy policy;
    std::string mistake;  ///< why the policy cannot be parsed; all new objects are then refused
  };
  /// The consumer in whose namespace the request writes, and its policy if that matters for the request.
  asio::awaitable<kube::Result<Consumer>> consumer_of(const Request& request, const Hold& hold);
  /// The classes that were granted to the slices of a consumer, from the caches.
  core::admission::OfferedClasses offered_classes(std::string_view consumer) const;
  /// Whether a consumer may have one more of a kind in its tenant namespace. It may get a few more, because replicas do
  /// not know what the others have just admitted.
  asio::awaitable<Answer> check_amount(const Request& request, kube::Resource kind, const Hold& hold);
  /// Whether an API server has sent the request. Waits at most a second until that is known.
  asio::awaitable<bool> comes_from_api_server(const Request& request) const;
  /// A consumer and its policy, from the cache.
  Consumer policy_of(std::string_view id) const;
  /// Checks the size of a consumer's object against a limit that depends on the number of its objects, from the caches.
  Answer check_size(const Request& request, std::string_view consumer) const;
  /// Reads the policy in a consumer's tenant namespace, from the cache.
  void read_policy(Consumer& consumer) const;
  /// The tenant namespace of a consumer, from the cache.
  std::optional<kube::Object> tenant_namespace(std::string_view cluster) const;
  /// A namespace that is not this consumer's, but would look like its twin; "" if there is none.
  std::string namespace_of_id(std::string_view consumer, const kube::Object& tenant_namespace) const;

  ReviewContext context_;
  kube::InformerHandle namespaces_, offloadings_;
  TwinHoldings twins_;
  TenantHoldings tenants_;
  LiveReads reads_;
};

}  // namespace liqo::webhook
