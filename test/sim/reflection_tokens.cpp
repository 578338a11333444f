// Pods and the Secrets with their tokens in the simulation of reflection.
#include <algorithm>

#include "core/common/meta.hpp"
#include "core/common/names.hpp"
#include "core/offloading/service_account_token.hpp"
#include "core/offloading/token_secrets.hpp"
#include "faults.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "reflection_world.hpp"

namespace liqo::sim {

using kube::Object;
using kube::ObjectKey;
namespace resources = kube::resources;

namespace {

constexpr std::string_view account_name = "robot";
/// Longer than any schedule: the renewal of tokens is not tested here.
constexpr std::int64_t lifetime_seconds = 1'000'000;

/// Whether a Secret has the tokens that the API server at home has issued for each of these requests.
bool brings(const json::object& secret, const std::vector<core::TokenRequest>& requests) {
  for (const core::TokenRequest& request : requests) {
    const auto token = kube::decode_base64(kube::string_at(secret, {"data", request.key}));
    if (!token || !token->starts_with("token-")) return false;
  }
  return true;
}

}  // namespace

void ReflectionWorld::add_account() {
  (void)home_.server.create(resources::service_accounts,
                            {{"metadata", json::object{{"name", account_name}, {"namespace", home_namespace}}}},
                            reflection_user);
}

void ReflectionWorld::give_token(json::object& spec, bool is_for_others) {
  json::array sources{
      json::object{{"serviceAccountToken", json::object{{"path", "token"}, {"expirationSeconds", lifetime_seconds}}}}};
  if (is_for_others)
    sources.push_back(json::object{
        {"serviceAccountToken",
         json::object{{"path", "vault"}, {"audience", "vault"}, {"expirationSeconds", lifetime_seconds}}}});
  spec["serviceAccountName"] = account_name;
  spec["volumes"].as_array().push_back(
      json::object{{"name", "kube-api-access-abcde"}, {"projected", json::object{{"sources", std::move(sources)}}}});
}

void ReflectionWorld::take_token_name() {
  Cluster& provider = any_provider();
  // The name is that of a pod, or of the next one.
  const Tree pod = draw_tree(random_, home_.server.list(resources::pods, home_namespace));
  const std::string name = pod && random_.chance(0.7) ? std::string(name_of(*pod)) : "pod-" + std::to_string(next_pod_);
  const ObjectKey key{twin_namespace(home_.id), core::token_secret_name(name)};
  if (random_.chance(0.5)) (void)provider.server.remove(resources::secrets, key, {}, reflection_stranger);
  if (provider.server.create(resources::secrets,
                             {{"metadata", json::object{{"name", key.name}, {"namespace", key.ns}}},
                              {"data", json::object{{"theirs", "eA=="}}}},
                             reflection_stranger))
    note("a stranger takes the name " + key.name + " in " + provider.id);
}

bool ReflectionWorld::needs_withheld(const Object& pod) {
  return std::ranges::any_of(core::needed_secrets(pod), [&](const std::string& name) {
    const Tree secret = home_.server.get(resources::secrets, {std::string(home_namespace), name});
    return secret && kube::string_at(*secret, {"type"}) == core::service_account_token_type &&
           !core::may_copy_token(Object(*secret));
  });
}

std::string ReflectionWorld::compare_tokens(Cluster& provider) {
  const std::string twin = twin_namespace(home_.id), where = " in " + provider.id;
  const core::ClusterPair clusters{.local = home_.id, .remote = provider.id};
  for (const Tree& tree : home_.server.list(resources::pods, home_namespace)) {
    const Object pod(*tree);
    const auto requests = core::collect_token_requests(pod);
    const std::string_view node = kube::string_at(pod.spec(), {"nodeName"});
    if (requests.empty() || !node.starts_with(provider.id)) continue;
    const std::string title = "token Secret of pod " + std::string(pod.name());
    const Tree there = provider.server.get(resources::secrets, {twin, core::token_secret_name(pod.name())});
    if (!there && needs_withheld(pod)) continue;
    if (!there) return title + " is missing" + where;
    const Object secret(*there);
    // A Secret of another owner has the name.
    if (!core::is_reflected(secret, clusters)) continue;
    if (!core::is_token_secret(secret, clusters) || !brings(*there, requests) || is_deleting(*there) ||
        secret.annotation(api::annotations::token_pod_uid) != pod.uid() || secret.label(api::labels::node_name) != node)
      return title + " is wrong" + where + ": " + secret.text();
  }
  for (const Tree& there : provider.server.list(resources::secrets, twin)) {
    const Object secret(*there);
    // If a process ends while a virtual node is being removed, nothing removes the node's Secrets (docs/known-gaps.md).
    const std::string node(secret.label(api::labels::node_name));
    if (!core::is_token_secret(secret, clusters) ||
        !home_.server.get(api::kinds::virtual_nodes, {tenant_namespace(provider.id), node}))
      continue;
    const Tree pod = home_.server.get(
        resources::pods,
        {std::string(home_namespace), std::string(secret.annotation(api::annotations::token_pod_name))});
    if (!pod || uid_of(*pod) != secret.annotation(api::annotations::token_pod_uid))
      return "token Secret " + std::string(secret.name()) + " is left over" + where;
  }
  return "";
}

}  // namespace liqo::sim
