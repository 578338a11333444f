// Gathers the inputs of a session with a provider: a Secret, options, and addresses of the API server here.
#include <set>
#include <utility>

#include "controllers/common/configurations_of.hpp"
#include "controllers/common/known.hpp"
#include "controllers/common/older_namesake.hpp"
#include "controllers/sessions/provider_sessions.hpp"
#include "core/addresses/network_configuration.hpp"
#include "core/common/digest.hpp"
#include "core/common/names.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::VirtualNode;
using kube::Outcome;

/// Finds errors in the VirtualNode itself.
std::optional<kube::Failure> why_invalid(const VirtualNode& virtual_node) {
  const std::string cluster(virtual_node.cluster_id());
  if (auto name = core::check_node_name(virtual_node.name()); !name) return std::move(name.error());
  if (!core::is_dns_label(cluster))
    return kube::Failure(kube::Errc::invalid_input, "spec.clusterID is not a cluster ID: \"" + cluster + "\"");
  if (virtual_node.kubeconfig_secret().empty())
    return kube::Failure(kube::Errc::missing, "spec.kubeconfigSecretRef names no Secret");
  return std::nullopt;
}

}  // namespace

std::optional<kube::Failure> ProviderSessions::why_unfit(const kube::Object& virtual_node) const {
  if (const std::string& foreign = entries_.at(virtual_node.key()).foreign; !foreign.empty())
    return kube::Failure(kube::Errc::invalid_input, foreign);
  // Both would run the pods of the Node.
  if (const auto older = older_namesake(*virtual_nodes_, virtual_node))
    return kube::Failure(kube::Errc::invalid_input, core::name_taken_text(*older));
  return why_invalid(VirtualNode(virtual_node));
}

std::string ProviderSessions::digest_of(const kube::Object& virtual_node, const SessionInputs& inputs) {
  const auto texts = [](const auto& of) { return kube::json::array(of.begin(), of.end()); };
  kube::json::object parts;
  parts["patch"] = kube::object_at(virtual_node.spec(), {"offloadingPatch"});
  parts["cluster"] = VirtualNode(virtual_node).cluster_id();
  parts["labels"] = texts(inputs.left_out.labels);
  parts["annotations"] = texts(inputs.left_out.annotations);
  parts["addresses"] = texts(inputs.addresses);
  parts["withholdsTokens"] = inputs.withholds_tokens;
  return core::sha256_hex(kube::json::serialize(parts));
}

std::expected<ProviderSessions::SessionInputs, Outcome> ProviderSessions::read_inputs(
    const kube::Object& virtual_node) {
  const kube::ObjectKey key = virtual_node.key();
  const std::string secret_name(VirtualNode(virtual_node).kubeconfig_secret());
  Entry& entry = entries_[key];
  if (!entry.secret || entry.secret_name != secret_name) {
    entry.secret_name = secret_name;
    entry.secret = context_.home.acquire({.resource = kube::resources::secrets,
                                          .ns = key.ns,
                                          .selection = {.field_selector = kube::name_is(secret_name)}});
    entry.secret.subscribe([this, key](const kube::ObjectKey&) { enqueue(key); });
  }
  if (!entry.secret->has_synced()) {
    if (entry.secret->trouble())
      refuse(virtual_node, kube::Failure(*entry.secret->trouble()).in("reading Secret " + secret_name));
    return std::unexpected(Outcome::again_after(200ms));
  }
  auto secret = entry.secret->find({key.ns, secret_name});
  if (!secret) {
    // A session that has its credentials goes on without the Secret.
    if (!entry.session)
      refuse(virtual_node, kube::Failure(kube::Errc::missing,
                                         "Secret " + secret_name + " of namespace " + key.ns + " does not exist"));
    return std::unexpected(Outcome::done());
  }
  if (auto wait = read_options(virtual_node, entry)) return std::unexpected(std::move(*wait));
  if (ips_ && !(is_known_or_forbidden(*ips_) && is_known_or_forbidden(*configurations_)))
    return std::unexpected(Outcome::again_after(200ms));
  SessionInputs inputs{
      .secret = *secret,
      .left_out = *entry.left_out,
      .addresses = given_addresses(home_of(virtual_node)),
      .withholds_tokens = !entry.tokens_withheld.empty(),
      .credentials = core::sha256_hex(kube::json::serialize(kube::object_at(secret->tree(), {"data"}))),
      .digest = {}};
  inputs.digest = digest_of(virtual_node, inputs);
  return inputs;
}

std::optional<Outcome> ProviderSessions::read_options(const kube::Object& virtual_node, Entry& entry) {
  if (!templates_.is_known()) {
    if (templates_.trouble() && !entry.session)
      refuse(virtual_node, kube::Failure(*templates_.trouble()).in("reading the VkOptionsTemplates"));
    return Outcome::again_after(200ms);
  }
  const auto options = templates_.of(virtual_node);
  if (options) {
    entry.left_out = core::reflection::filters_of(virtual_node, *options ? &**options : nullptr,
                                                  context_.settings.reflection.not_reflected);
    std::string why = *options ? core::reflection::why_tokens_withheld(**options) : std::string();
    if (context_.settings.offloading.api_server_mode == core::ApiServerMode::never) why.clear();
    const bool is_news = std::exchange(entry.tokens_withheld, std::move(why)) != entry.tokens_withheld;
    if (is_news && !entry.tokens_withheld.empty())
      context_.events.warning(
          virtual_node, api::kinds::virtual_nodes, api::reasons::tokens_withheld,
          "pods that are offloaded from now on get no tokens for the API server at home, because of the "
          "VkOptionsTemplate: " +
              entry.tokens_withheld);
  } else if (!entry.left_out && virtual_node.is_deleting()) {
    // The session of a VirtualNode that is being deleted can do without its VkOptionsTemplate.
    entry.left_out = core::reflection::filters_of(virtual_node, nullptr, context_.settings.reflection.not_reflected);
  } else if (!entry.left_out) {
    refuse(virtual_node, kube::Failure(options.error()));
    return Outcome::done();
  }
  return std::nullopt;
}

std::vector<std::string> ProviderSessions::given_addresses(const kube::ObjectKey& home) const {
  if (!ips_) return {};
  const auto mapping = core::read_network_mapping(configurations_of(configurations_->store(), home.ns, home.name));
  if (!mapping || mapping->empty()) return {};
  std::set<std::string> addresses;
  for (const kube::Object& ip : ips_->objects_in(context_.settings.liqo_namespace)) {
    if (ip.label(api::labels::ip_type) != api::labels::ip_type_api_server) continue;
    if (const auto address = core::IpAddress::parse(kube::string_at(ip.status(), {"ip"})))
      addresses.insert(address->text());
  }
  return {addresses.begin(), addresses.end()};
}

core::ForgingContext ProviderSessions::forging_of(const kube::Object& virtual_node,
                                                  const core::reflection::ReflectionFilters& left_out) const {
  const Settings& settings = context_.settings;
  api::OffloadingPatch patch = VirtualNode(virtual_node).offloading_patch();
  patch.labels_not_reflected = left_out.labels;
  patch.annotations_not_reflected = left_out.annotations;
  return {
      .clusters = {.local = settings.cluster_id, .remote = std::string(VirtualNode(virtual_node).cluster_id())},
      .node_name = std::string(virtual_node.name()),
      .patch = std::move(patch),
      .kept_keys = settings.reflection.kept_keys,
      .api_server_mode = settings.offloading.api_server_mode,
      .api_server_host = settings.offloading.api_server_host,
      .api_server_port = settings.offloading.api_server_port,
  };
}

}  // namespace liqo::controllers
