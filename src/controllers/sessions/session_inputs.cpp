#include "controllers/sessions/session_inputs.hpp"

#include <set>
#include <utility>

#include "controllers/common/configurations_of.hpp"
#include "controllers/common/known.hpp"
#include "core/addresses/network_configuration.hpp"
#include "core/common/digest.hpp"
#include "core/common/home_names.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::VirtualNode;

/// How soon to look again at a cache that is not complete.
constexpr kube::Duration look_again = 200ms;

std::string digest_of(const kube::Object& virtual_node, const SessionInputs& inputs) {
  const auto texts = [](const auto& of) { return kube::json::array(of.begin(), of.end()); };
  kube::json::object parts;
  parts["patch"] = kube::object_at(virtual_node.spec(), {"offloadingPatch"});
  parts["cluster"] = VirtualNode(virtual_node).cluster_id();
  parts["labels"] = texts(inputs.left_out.labels);
  parts["annotations"] = texts(inputs.left_out.annotations);
  parts["addresses"] = texts(inputs.addresses);
  parts["knowsHomeNames"] = core::knows_names_of_home(VirtualNode(virtual_node).labels());
  parts["withholdsTokens"] = inputs.withholds_tokens;
  parts["withholdsAudienceTokens"] = inputs.withholds_audience_tokens;
  parts["withholdsTrust"] = inputs.withholds_trust;
  parts["withholdsCertificates"] = inputs.withholds_certificates;
  return core::sha256_hex(kube::json::serialize(parts));
}

}  // namespace

SessionInputsReader::SessionInputsReader(Context context, Reader reader)
    : context_(std::move(context)), reader_(std::move(reader)), templates_(context_) {
  templates_.subscribe(reader_.all_changed);
  if (context_.settings.offloading.api_server_mode == core::ApiServerMode::never ||
      !context_.settings.offloading.api_server_host.empty())
    return;
  ips_ = context_.home.acquire({.resource = api::kinds::ips});
  configurations_ = context_.home.acquire({.resource = api::kinds::configurations});
  ips_.subscribe([this](const kube::ObjectKey& key) {
    if (key.ns == context_.settings.liqo_namespace) reader_.all_changed();
  });
  configurations_.subscribe([this](const kube::ObjectKey&) { reader_.all_changed(); });
}

std::expected<SessionInputs, MissingInputs> SessionInputsReader::read(const kube::Object& virtual_node,
                                                                      bool has_session) {
  const kube::ObjectKey key = virtual_node.key();
  const std::string secret_name(VirtualNode(virtual_node).kubeconfig_secret());
  Entry& entry = entries_[key];
  if (!entry.secret || entry.secret_name != secret_name) {
    entry.secret_name = secret_name;
    entry.secret = context_.home.acquire({.resource = kube::resources::secrets,
                                          .ns = key.ns,
                                          .selection = {.field_selector = kube::name_is(secret_name)}});
    entry.secret.subscribe([this, key](const kube::ObjectKey&) { reader_.changed(key); });
  }
  if (!entry.secret->has_synced()) {
    MissingInputs missing{.look_again = look_again};
    if (entry.secret->trouble())
      missing.failure = kube::Failure(*entry.secret->trouble()).in("reading Secret " + secret_name);
    return std::unexpected(std::move(missing));
  }
  auto secret = entry.secret->find({key.ns, secret_name});
  if (!secret) {
    // A session that has its credentials goes on without the Secret.
    if (has_session) return std::unexpected(MissingInputs());
    return std::unexpected(
        MissingInputs{.failure = kube::Failure(kube::Errc::missing, "Secret " + secret_name + " of namespace " +
                                                                        key.ns + " does not exist")});
  }
  if (auto missing = read_options(virtual_node, entry, has_session)) return std::unexpected(std::move(*missing));
  if (ips_ && !(is_known_or_forbidden(*ips_) && is_known_or_forbidden(*configurations_)))
    return std::unexpected(MissingInputs{.look_again = look_again});
  SessionInputs inputs{
      .secret = *secret,
      .left_out = *entry.left_out,
      .addresses = given_addresses(virtual_node),
      .withholds_tokens = entry.withholds_tokens,
      .withholds_audience_tokens = entry.withholds_audience_tokens,
      .withholds_trust = entry.withholds_trust,
      .withholds_certificates = entry.withholds_certificates,
      .credentials = core::sha256_hex(kube::json::serialize(kube::object_at(secret->tree(), {"data"}))),
      .digest = {}};
  inputs.digest = digest_of(virtual_node, inputs);
  return inputs;
}

std::optional<MissingInputs> SessionInputsReader::read_options(const kube::Object& virtual_node, Entry& entry,
                                                               bool has_session) {
  if (!templates_.is_known()) {
    MissingInputs missing{.look_again = look_again};
    if (templates_.trouble() && !has_session)
      missing.failure = kube::Failure(*templates_.trouble()).in("reading the VkOptionsTemplates");
    return missing;
  }
  const auto options = templates_.of(virtual_node);
  if (options) {
    entry.left_out = core::reflection::filters_of(virtual_node, *options ? &**options : nullptr,
                                                  context_.settings.reflection.not_reflected);
    read_withheld_tokens(virtual_node, *options ? &**options : nullptr, entry);
    entry.withholds_trust = *options && core::reflection::leaves_to_provider(**options, "--trust-bundles");
    entry.withholds_certificates = *options && core::reflection::leaves_to_provider(**options, "--pod-certificates");
  } else if (!entry.left_out && virtual_node.is_deleting()) {
    // The session of a VirtualNode that is being deleted can do without its VkOptionsTemplate.
    entry.left_out = core::reflection::filters_of(virtual_node, nullptr, context_.settings.reflection.not_reflected);
  } else if (!entry.left_out) {
    return MissingInputs{.failure = options.error()};
  }
  return std::nullopt;
}

void SessionInputsReader::read_withheld_tokens(const kube::Object& virtual_node, const kube::Object* options,
                                               Entry& entry) {
  const auto& settings = context_.settings.offloading;
  std::string for_api_server, by_name;
  if (options && settings.api_server_mode != core::ApiServerMode::never)
    for_api_server = core::reflection::why_tokens_withheld(*options);
  if (options && settings.audience_tokens != core::AudienceTokens::never)
    by_name = core::reflection::why_audience_tokens_withheld(*options);
  entry.withholds_tokens = !for_api_server.empty();
  entry.withholds_audience_tokens = !by_name.empty();
  std::string words = core::reflection::describe_withheld(for_api_server, by_name);
  if (words == entry.tokens_withheld) return;
  entry.tokens_withheld = std::move(words);
  if (!entry.tokens_withheld.empty())
    context_.events.warning(virtual_node, api::kinds::virtual_nodes, api::reasons::tokens_withheld,
                            entry.tokens_withheld);
}

std::vector<std::string> SessionInputsReader::given_addresses(const kube::Object& virtual_node) const {
  if (!ips_) return {};
  const auto mapping = core::read_network_mapping(
      configurations_of(configurations_->store(), virtual_node.ns(), VirtualNode(virtual_node).cluster_id()));
  if (!mapping || mapping->empty()) return {};
  std::set<std::string> addresses;
  for (const kube::Object& ip : ips_->objects_in(context_.settings.liqo_namespace)) {
    if (ip.label(api::labels::ip_type) != api::labels::ip_type_api_server) continue;
    if (const auto address = core::IpAddress::parse(kube::string_at(ip.status(), {"ip"})))
      addresses.insert(address->text());
  }
  return {addresses.begin(), addresses.end()};
}

core::ForgingContext SessionInputsReader::forging_of(const kube::Object& virtual_node,
                                                     const SessionInputs& inputs) const {
  const Settings& settings = context_.settings;
  api::OffloadingPatch patch = VirtualNode(virtual_node).offloading_patch();
  patch.labels_not_reflected = inputs.left_out.labels;
  patch.annotations_not_reflected = inputs.left_out.annotations;
  return {
      .clusters = {.local = settings.cluster_id, .remote = std::string(VirtualNode(virtual_node).cluster_id())},
      .node_name = std::string(virtual_node.name()),
      .patch = std::move(patch),
      .kept_keys = settings.reflection.kept_keys,
      .api_server_mode = settings.offloading.api_server_mode,
      .api_server_host = settings.offloading.api_server_host,
      .api_server_port = settings.offloading.api_server_port,
      .audience_tokens = settings.offloading.audience_tokens,
      .trust_bundles = settings.offloading.trust_bundles,
      .pod_certificates = settings.offloading.pod_certificates,
      .knows_home_names = core::knows_names_of_home(VirtualNode(virtual_node).labels()),
  };
}

}  // namespace liqo::controllers
