#include "core/admission/tenant_rules.hpp"

#include <set>
#include <span>

#include "core/admission/written_size.hpp"
#include "core/common/names.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/decisions.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core::admission {
namespace labels = api::labels;
namespace {

constexpr std::string_view pinned_labels[] = {labels::remote_cluster_id, labels::replication, labels::replicated,
                                              labels::replication_origin, labels::replication_destination};
constexpr std::string_view marks[] = {api::annotations::cordon, api::annotations::cordon_tenant,
                                      api::annotations::cordoned_resource, api::annotations::drain};

constexpr std::string_view token_type = "kubernetes.io/service-account-token";

/// How an update changes a label or annotation: "added", "removed", "changed", or "" for not at all.
std::string_view change_of(const json::object& before, const json::object& after, std::string_view key) {
  const json::value* had = before.if_contains(key);
  const json::value* has = after.if_contains(key);
  if (!had && !has) return "";
  if (!had) return "added";
  if (!has) return "removed";
  return *had == *has ? "" : "changed";
}

/// Whether a label or annotation is in a domain of Liqo.
bool is_of_liqo(std::string_view key) { return is_below(domain_of(key), "liqo.io"); }

/// A finalizer holds an object until its controller has cleared up. At the provider only the provider's controllers do
/// so: a consumer that removes one leaves remains, and one that adds one holds up whole namespaces.
Answer check_finalizers(const Request& request) {
  const auto of = [](const kube::Object& object) -> const json::array& {
    return kube::array_at(object.tree(), {"metadata", "finalizers"});
  };
  if (of(request.old_object) == of(request.object)) return Answer::allow();
  return Answer::deny("the finalizers of " + request.plural + " cannot be set or removed by user " +
                      kube::in_quotes(request.user.name) + ": they say what this cluster still has to clear up");
}

Answer check_new_replica(const Request& request) {
  const kube::Object& object = request.object;
  const auto must_be = [&](std::string_view key, std::string_view value) {
    return Answer::deny("the label " + std::string(key) + " must be " + kube::in_quotes(value) + ", not " +
                        kube::in_quotes(object.label(key)) + ": user " + kube::in_quotes(request.user.name) +
                        " only creates copies of its own objects here");
  };
  if (object.label(labels::replicated) != "true") return must_be(labels::replicated, "true");
  if (object.label(labels::replication) == "true") return must_be(labels::replication, "false");
  for (std::string_view key : {labels::replication_origin, labels::remote_cluster_id})
    if (object.label(key) != request.user.name) return must_be(key, request.user.name);
  return Answer::allow();
}

Answer check_kept(const Request& request) {
  const kube::Object& before = request.old_object;
  const kube::Object& after = request.object;
  // The namespace has copies of the peer's objects, and this cluster's own requests to that peer, which the peer may
  // not change.
  if (before.label(labels::replicated) != "true" || before.label(labels::replication_origin) != request.user.name)
    return Answer::deny(request.plural + " " + kube::in_quotes(request.name) + " is no copy of an object of user " +
                        kube::in_quotes(request.user.name) + ", who cannot change it");
  for (std::string_view key : pinned_labels)
    if (const std::string_view change = change_of(before.labels(), after.labels(), key); !change.empty())
      return Answer::deny("the label " + std::string(key) + " cannot be " + std::string(change) + " by user " +
                          kube::in_quotes(request.user.name) + ": it says whose object this is");
  for (std::string_view key : marks)
    if (const std::string_view change = change_of(before.annotations(), after.annotations(), key); !change.empty())
      return Answer::deny("the annotation " + std::string(key) + " cannot be " + std::string(change) + " by user " +
                          kube::in_quotes(request.user.name) + ": only the provider cordons and uncordons");
  return Answer::allow();
}

/// Enough of a text to see that it is too long.
constexpr std::size_t cut_size = 1024;
/// Enough entries to see that they are too many (max_slice_resources).
constexpr std::size_t cut_entries = 65;

/// The entries of a map with those keys.
json::object entries_of(const json::object& map, std::span<const std::string_view> keys) {
  json::object kept;
  for (std::string_view key : keys)
    if (const json::value* value = map.if_contains(key)) kept[key] = *value;
  return kept;
}

void cut_text_of(json::value& value) {
  if (const json::string* text = value.if_string(); text && text->size() > cut_size)
    value = kube::cut_text(std::string_view(*text), cut_size);
}

/// A map whose first entries are left, with their names and texts cut.
json::object cut_map(const json::object& map) {
  json::object kept;
  for (const auto& [key, value] : map) {
    if (kept.size() == cut_entries) break;
    json::value& entry = kept[kube::cut_text(key, cut_size)] = value;
    cut_text_of(entry);
  }
  return kept;
}

}  // namespace

bool is_tenant(const User& user) { return user.is_in(api::control_plane_group); }
bool is_of_consumer(const User& user, std::string_view consumer) {
  return is_tenant(user) || (!consumer.empty() && user.is_in(consumer));
}

Answer check_replica(const Request& request) {
  if (!is_tenant(request.user)) return Answer::allow();
  if (request.subresource == "status")
    return Answer::deny("the status of " + request.plural + " is the provider's answer: user " +
                        kube::in_quotes(request.user.name) + " cannot write it");
  if (request.operation == Operation::create) {
    Answer answer = check_new_replica(request);
    if (!answer.allowed) return answer;
  } else if (request.operation == Operation::update) {
    Answer answer = check_kept(request);
    if (!answer.allowed) return answer;
  } else {
    return Answer::allow();
  }
  if (Answer answer = check_finalizers(request); !answer.allowed) return answer;
  const std::string_view consumer = kube::string_at(request.object.spec(), {"consumerClusterID"});
  if (!consumer.empty() && consumer != request.user.name)
    return Answer::deny("spec.consumerClusterID must be " + kube::in_quotes(request.user.name) + ", not " +
                        kube::in_quotes(consumer) + ": nobody asks in the name of another cluster");
  return check_written(request);
}

void cut_large_replica(json::object& tree) {
  const bool is_map = kube::string_at(tree, {"kind"}) == api::kinds::namespace_maps.kind;
  if (kube::string_at(tree, {"metadata", "labels", labels::replicated}) != "true" ||
      written_bytes(tree) <= (is_map ? max_written_map : max_written))
    return;
  json::object& metadata = kube::ensure_object(tree, "metadata");
  metadata["labels"] = entries_of(kube::object_at(metadata, {"labels"}), pinned_labels);
  metadata["annotations"] = entries_of(kube::object_at(metadata, {"annotations"}), marks);
  metadata.erase("ownerReferences");
  if (is_map) return;
  for (auto& [_, field] : kube::ensure_object(tree, "spec")) {
    cut_text_of(field);
    if (json::object* map = field.if_object()) *map = cut_map(*map);
  }
}

Answer check_tenant_writer(const Request& request, std::string_view decisions) {
  if (!is_tenant(request.user)) return Answer::allow();
  if (!request.writes()) return Answer::allow();
  const std::string who = "user " + kube::in_quotes(request.user.name);
  if (request.subresource == "status") return Answer::deny("the status of a Tenant cannot be written by " + who);
  if (Answer answer = check_finalizers(request); !answer.allowed) return answer;
  kube::Object before = request.old_object;
  if (request.operation == Operation::create) recall_decisions(decisions, before);
  const kube::Object& after = request.object;
  std::set<std::string_view> keys;
  if (!change_of(before.labels(), after.labels(), labels::webhook_skip).empty())
    return Answer::deny("the label " + std::string(labels::webhook_skip) + " cannot be set by " + who);
  for (const json::object* annotations : {&before.annotations(), &after.annotations()})
    for (const auto& [key, value] : *annotations)
      if (is_of_liqo(key)) keys.insert(key);
  for (std::string_view key : keys)
    if (!change_of(before.annotations(), after.annotations(), key).empty())
      return Answer::deny("the annotation " + std::string(key) + " cannot be set by " + who +
                          ": only the provider's administrator decides what a consumer may do");
  // The CRD fills in defaults, so a missing field counts as its default.
  const auto value_of = [](const kube::Object& tenant, std::string_view field, std::string_view standard) {
    const std::string_view value = kube::string_at(tenant.spec(), {field});
    return value.empty() ? standard : value;
  };
  for (const auto& [field, standard] :
       {std::pair<std::string_view, std::string_view>{"authzPolicy", "KeysExchange"}, {"tenantCondition", "Active"}}) {
    const std::string_view kept = value_of(before, field, standard);
    const std::string_view wanted = value_of(after, field, standard);
    if (wanted != kept)
      return Answer::deny("spec." + std::string(field) + " cannot be set to " + kube::in_quotes(wanted) + " by " + who +
                          ": only the provider's administrator decides what a consumer may do");
  }
  return check_written(request);
}

Answer check_secret(const Request& request, std::string_view consumer) {
  if (request.operation != Operation::create) return Answer::allow();
  if (!is_of_consumer(request.user, consumer)) return Answer::allow();
  const std::string who = "user " + kube::in_quotes(request.user.name);
  const std::string_view type = kube::string_at(request.object.tree(), {"type"});
  if (type == token_type)
    return Answer::deny("a Secret of the type " + std::string(token_type) + " cannot be created by " + who +
                        ": Kubernetes would put a token of this cluster into it");
  // Users of a tenant may create Secrets in its tenant namespace alone.
  if (!is_tenant(request.user)) return Answer::allow();
  if (request.object.name() != nonce_secret)
    return Answer::deny("the Secret " + kube::in_quotes(request.object.name()) + " cannot be created by " + who +
                        ": it is " + std::string(nonce_secret) + " that asks for a nonce");
  for (const auto& [key, value] : request.object.labels())
    if (is_of_liqo(key) && key != labels::nonce && key != labels::remote_cluster_id)
      return Answer::deny("the label " + std::string(key) + " cannot be on the Secret " + std::string(nonce_secret) +
                          " of " + who + ": it asks for a nonce and for nothing else");
  if (!kube::object_at(request.object.tree(), {"data"}).empty())
    return Answer::deny("the Secret " + std::string(nonce_secret) + " of " + who +
                        " must be empty: this cluster chooses the nonce");
  if (kube::bool_at(request.object.tree(), {"immutable"}))
    return Answer::deny("the Secret " + std::string(nonce_secret) + " of " + who +
                        " cannot be immutable: this cluster puts the nonce into it");
  if (!kube::array_at(request.object.tree(), {"metadata", "finalizers"}).empty())
    return Answer::deny("the Secret " + std::string(nonce_secret) + " of " + who +
                        " cannot have finalizers: they would hold its namespace when the peering ends");
  return Answer::allow();
}

}  // namespace liqo::core::admission
