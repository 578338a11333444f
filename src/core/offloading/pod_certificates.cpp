#include "core/offloading/pod_certificates.hpp"

#include <algorithm>

#include "core/common/digest.hpp"
#include "core/common/json_values.hpp"
#include "core/common/meta.hpp"
#include "core/common/names.hpp"
#include "core/offloading/certificate_texts.hpp"
#include "core/offloading/pod_reads.hpp"
#include "core/offloading/service_account_token.hpp"
#include "kube/base/base64.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

namespace annotations = api::annotations;

constexpr std::string_view source_field = "podCertificate", suffix = "-certificates";
constexpr std::string_view key_end = ".key", chain_end = ".chain", bundle_end = ".bundle";
constexpr std::size_t digits = 24, max_name = 253, max_words = 400;

/// What the signers of Kubernetes begin with whose certificates its API server takes.
constexpr std::string_view api_server_signers = "kubernetes.io/kube-apiserver-client";

/// Whether a certificate would be as good as a token for the API server at home.
bool is_for_api_server(const CertificateSource& source) { return source.signer.starts_with(api_server_signers); }

std::string key_of(std::string_view volume, std::size_t index) {
  return sha256_hex(std::string(volume) + "/" + std::to_string(index)).substr(0, digits);
}

CertificateSource source_of(std::string key, const json::object& projection) {
  CertificateSource source{.key = std::move(key),
                           .signer = std::string(kube::string_at(projection, {"signerName"})),
                           .key_type = std::string(kube::string_at(projection, {"keyType"})),
                           .max_seconds = std::nullopt,
                           .user_annotations = kube::object_at(projection, {"userAnnotations"}),
                           .in_one_file = !kube::string_at(projection, {"credentialBundlePath"}).empty()};
  if (const std::int64_t seconds = kube::int_at(projection, {"maxExpirationSeconds"}); seconds > 0)
    source.max_seconds = seconds;
  return source;
}

/// The source of the Secret with the same files.
json::object secret_source(std::string_view secret, const std::string& key, const json::object& projection) {
  json::array items;
  const auto add = [&](std::string_view field, std::string_view end) {
    const std::string_view path = kube::string_at(projection, {field});
    if (path.empty()) return;
    json::object item{{"key", key + std::string(end)}, {"path", path}};
    // The owner of the file (Kubernetes 1.37) has the same field for a key of a Secret.
    if (const json::value* owner = projection.if_contains("user"); owner && !owner->is_null()) item["user"] = *owner;
    items.push_back(std::move(item));
  };
  add("credentialBundlePath", bundle_end);
  add("keyPath", key_end);
  add("certificateChainPath", chain_end);
  return {{"secret", json::object{{"name", secret}, {"items", std::move(items)}}}};
}

std::optional<kube::WallTime> time_at(const json::value& value, std::string_view field) {
  const auto time = kube::parse_time(kube::string_at(value, {field}));
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace

CertificateSources certificate_sources(const kube::Object& local_pod) {
  CertificateSources found;
  for (const json::value& volume : kube::array_at(local_pod.spec(), {"volumes"})) {
    const json::array& sources = kube::array_at(volume, {"projected", "sources"});
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (const json::value* projection = kube::find(sources[i], {source_field}); projection && projection->is_object())
        found.push_back(source_of(key_of(kube::string_at(volume, {"name"}), i), projection->get_object()));
  }
  return found;
}

bool wants_certificates(const kube::Object& local_pod, const ForgingContext& ctx) {
  if (ctx.pod_certificates != PodCertificates::home || reads_of_provider(local_pod) ||
      local_pod.annotation(annotations::api_server_support) == "disabled")
    return false;
  const CertificateSources sources = certificate_sources(local_pod);
  const bool may_ask_home = ctx.api_server_mode != ApiServerMode::never;
  return !sources.empty() && (may_ask_home || std::ranges::none_of(sources, is_for_api_server));
}

bool gets_certificates(const kube::Object& local_pod, const ForgingContext& ctx) {
  return ctx.requests_certificates && *ctx.requests_certificates && wants_certificates(local_pod, ctx);
}

std::string excess_of_certificates(const kube::Object& local_pod, const ForgingContext& ctx) {
  const std::size_t count = wants_certificates(local_pod, ctx) ? certificate_sources(local_pod).size() : 0;
  if (count <= max_certificates) return {};
  return "it mounts " + std::to_string(count) + " certificates, and at most " + std::to_string(max_certificates) +
         " of one pod are brought: mount fewer";
}

void adapt_certificates(json::object& pod_spec, const kube::Object& local_pod, const ForgingContext& ctx) {
  if (!gets_certificates(local_pod, ctx)) return;
  const std::string secret = pod_certificates_name(local_pod.name());
  // The places of the sources are those at home: those that the pod does not get may be gone in the spec that is sent.
  std::map<std::string, json::array> wanted;
  for (const json::value& volume : kube::array_at(local_pod.spec(), {"volumes"})) {
    const std::string name(kube::string_at(volume, {"name"}));
    const json::array& sources = kube::array_at(volume, {"projected", "sources"});
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (const json::value* projection = kube::find(sources[i], {source_field}); projection && projection->is_object())
        wanted[name].push_back(secret_source(secret, key_of(name, i), projection->get_object()));
  }
  for_each_object(pod_spec, "volumes", [&](json::object& volume) {
    json::object* projected = object_in(volume, "projected");
    if (!projected) return;
    const json::array& made = wanted[std::string(kube::string_at(volume, {"name"}))];
    std::size_t next = 0;
    for_each_object(*projected, "sources", [&](json::object& source) {
      if (object_in(source, source_field) && next < made.size()) source = made[next++].get_object();
    });
  });
}

std::string pod_certificates_name(std::string_view pod) {
  if (pod.size() + suffix.size() <= max_name) return std::string(pod) + std::string(suffix);
  const std::string digest = "." + sha256_hex(pod).substr(0, digits);
  return std::string(pod.substr(0, max_name - digest.size() - suffix.size() - 1)) + "0" + digest + std::string(suffix);
}

std::string_view certificate_secret_pod(std::string_view secret, std::string_view annotated) {
  if (pod_certificates_name(annotated) == secret) return annotated;
  return secret.ends_with(suffix) ? secret.substr(0, secret.size() - suffix.size()) : std::string_view();
}

bool mounts_certificates(const kube::Object& shadow) {
  const std::string secret = pod_certificates_name(shadow.name());
  for (const json::value& volume : kube::array_at(shadow.spec(), {"pod", "volumes"}))
    for (const json::value& source : kube::array_at(volume, {"projected", "sources"}))
      if (kube::string_at(source, {"secret", "name"}) == secret) return true;
  return false;
}

kube::Object forge_certificate_request(const kube::Object& local_pod, const CertificateSource& source,
                                       const CertificateHolder& holder, std::string_view request) {
  kube::Object made =
      kube::Object::make(api::kinds::pod_certificate_requests,
                         {std::string(local_pod.ns()), "liqo-" + sha256_hex(request).substr(0, 2 * digits)});
  made.add_owner_reference({.api_version = kube::resources::pods.api_version(),
                            .kind = std::string(kube::resources::pods.kind),
                            .name = std::string(local_pod.name()),
                            .uid = std::string(local_pod.uid())});
  json::object& spec = made.mutable_spec();
  spec["signerName"] = source.signer;
  spec["podName"] = local_pod.name();
  spec["podUID"] = local_pod.uid();
  spec["serviceAccountName"] = service_account_of(local_pod);
  spec["serviceAccountUID"] = holder.account_uid;
  spec["nodeName"] = kube::string_at(local_pod.spec(), {"nodeName"});
  spec["nodeUID"] = holder.node_uid;
  if (source.max_seconds) spec["maxExpirationSeconds"] = *source.max_seconds;
  spec["stubPKCS10Request"] = kube::encode_base64(request);
  if (!source.user_annotations.empty()) spec["unverifiedUserAnnotations"] = source.user_annotations;
  return made;
}

CertificateAnswer read_certificate_answer(const kube::Object& request) {
  CertificateAnswer answer;
  const json::object& status = request.status();
  for (const std::string_view type : {"Denied", "Failed"})
    if (const json::object* condition = kube::find_condition(status, type)) {
      const std::string reason(kube::string_at(*condition, {"reason"}));
      answer.refusal = kube::one_line(reason + ": " + std::string(kube::string_at(*condition, {"message"})), max_words);
      return answer;
    }
  if (!kube::find_condition(status, "Issued")) return answer;
  const auto renew_at = kube::parse_time(kube::string_at(status, {"beginRefreshAt"}));
  const auto expires = kube::parse_time(kube::string_at(status, {"notAfter"}));
  std::string chain = write_certificates(read_certificates(kube::string_at(status, {"certificateChain"})));
  if (!renew_at || !expires || chain.empty())
    answer.refusal = "the answer has no certificate, or no time";
  else if (chain.size() > max_chain_bytes)
    answer.refusal = "the certificate has more than " + std::to_string(max_chain_bytes / 1024) + " KiB";
  else
    answer.issued = PodCertificate{.key = {}, .chain = std::move(chain), .renew_at = *renew_at, .expires = *expires};
  return answer;
}

kube::Object forge_certificate_secret(const kube::Object& local_pod, std::string_view remote_namespace,
                                      const PodCertificateSet& issued, const ForgingContext& ctx) {
  kube::Object secret = kube::Object::make(kube::resources::secrets,
                                           {std::string(remote_namespace), pod_certificates_name(local_pod.name())});
  // Whoever looks after Secrets with tokens knows this one, too, by the same labels and annotations.
  secret.set_label(api::labels::reflection_origin, ctx.clusters.local);
  secret.set_label(api::labels::reflection_destination, ctx.clusters.remote);
  secret.set_label(api::labels::node_name, ctx.node_name);
  const std::string account = service_account_of(local_pod);
  secret.set_label(api::labels::service_account_name, is_label_value(account) ? account : digest_hex(account));
  secret.set_annotation(annotations::token_pod_name, local_pod.name());
  secret.set_annotation(annotations::token_pod_uid, local_pod.uid());
  json::object data, times;
  for (const CertificateSource& source : certificate_sources(local_pod)) {
    const auto found = issued.find(source.key);
    if (found == issued.end()) continue;
    const PodCertificate& one = found->second;
    data[source.key + std::string(key_end)] = kube::encode_base64(one.key);
    data[source.key + std::string(chain_end)] = kube::encode_base64(one.chain);
    if (source.in_one_file) data[source.key + std::string(bundle_end)] = kube::encode_base64(one.key + one.chain);
    times[source.key] =
        json::object{{"renew", kube::format_time(one.renew_at)}, {"expires", kube::format_time(one.expires)}};
  }
  secret.set_annotation(annotations::certificate_times, json::serialize(times));
  secret.tree()["type"] = "Opaque";
  secret.tree()["data"] = std::move(data);
  return secret;
}

bool is_certificate_secret(const kube::Object& secret, const ClusterPair& clusters) {
  return is_token_secret(secret, clusters) &&
         pod_certificates_name(secret.annotation(annotations::token_pod_name)) == secret.name();
}

PodCertificateSet read_certificate_secret(const kube::Object& secret, const CertificateSources& sources) {
  PodCertificateSet issued;
  const auto times = kube::parse_json(secret.annotation(annotations::certificate_times));
  if (!times) return issued;
  const json::object& data = kube::object_at(secret.tree(), {"data"});
  const auto text = [&data](const std::string& key) {
    auto decoded = kube::decode_base64(kube::string_at(data, {key}));
    return decoded ? std::move(*decoded) : std::string();
  };
  for (const CertificateSource& source : sources) {
    const json::value* noted = kube::find(*times, {source.key});
    if (!noted) continue;
    const auto renew_at = time_at(*noted, "renew"), expires = time_at(*noted, "expires");
    PodCertificate one{.key = text(source.key + std::string(key_end)),
                       .chain = text(source.key + std::string(chain_end))};
    if (one.key.empty() || one.chain.empty() || !renew_at || !expires) continue;
    one.renew_at = *renew_at;
    one.expires = *expires;
    issued.emplace(source.key, std::move(one));
  }
  return issued;
}

bool lacks_certificates(const kube::Object& secret, const kube::Object& wanted) {
  return !covers(secret.labels(), wanted.labels()) || !covers(secret.annotations(), wanted.annotations()) ||
         !covers(kube::object_at(secret.tree(), {"data"}), kube::object_at(wanted.tree(), {"data"}));
}

}  // namespace liqo::core
