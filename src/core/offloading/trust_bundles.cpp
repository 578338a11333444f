#include "core/offloading/trust_bundles.hpp"

#include <algorithm>
#include <set>

#include "core/common/digest.hpp"
#include "core/common/json_values.hpp"
#include "core/common/meta.hpp"
#include "core/offloading/certificate_texts.hpp"
#include "core/offloading/pod_reads.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

constexpr std::string_view source_field = "clusterTrustBundle";
constexpr std::string_view copy_prefix = "trust-of-home-";
/// Hex digits of a digest that no two sources of a pod, or pods of a twin, have in common.
constexpr std::size_t digits = 24;
constexpr std::size_t max_named = 4, max_shown = 80;

TrustSource source_of(const json::object& projection) {
  TrustSource source{.key = {},
                     .name = std::string(kube::string_at(projection, {"name"})),
                     .signer = std::string(kube::string_at(projection, {"signerName"})),
                     .selector = std::nullopt,
                     .optional = kube::bool_at(projection, {"optional"})};
  const json::value* selector = projection.if_contains("labelSelector");
  if (source.name.empty() && selector && selector->is_object()) source.selector = selector->get_object();
  json::object parts{{"name", source.name}, {"signer", source.signer}, {"optional", source.optional}};
  if (source.selector) parts["selector"] = *source.selector;
  source.key = sha256_hex(json::serialize(parts)).substr(0, digits);
  return source;
}

/// Whether labels meet one of `matchExpressions`. An operator that is not known matches nothing.
bool meets(const json::object& labels, const json::value& expression) {
  const std::string_view op = kube::string_at(expression, {"operator"});
  const json::value* label = labels.if_contains(kube::string_at(expression, {"key"}));
  const json::array& values = kube::array_at(expression, {"values"});
  const bool is_listed = label && std::ranges::find(values, *label) != values.end();
  if (op == "In") return is_listed;
  if (op == "NotIn") return !is_listed;
  if (op == "Exists") return label != nullptr;
  return op == "DoesNotExist" && !label;
}

std::string in_words(const TrustSource& source) {
  if (!source.name.empty()) return "ClusterTrustBundle " + kube::in_quotes(source.name, max_shown);
  return "ClusterTrustBundles of signer " + kube::in_quotes(source.signer, max_shown) +
         " with the labels that it names";
}

}  // namespace

TrustSources trust_sources(const kube::Object& local_pod) {
  std::map<std::string, TrustSource> found;
  for (const json::value& volume : kube::array_at(local_pod.spec(), {"volumes"}))
    for (const json::value& entry : kube::array_at(volume, {"projected", "sources"}))
      if (const json::value* projection = kube::find(entry, {source_field}); projection && projection->is_object()) {
        TrustSource source = source_of(projection->get_object());
        std::string key = source.key;
        found.try_emplace(std::move(key), std::move(source));
      }
  TrustSources sources;
  for (auto& [key, source] : found) sources.push_back(std::move(source));
  return sources;
}

bool wants_home_trust(const kube::Object& local_pod, const ForgingContext& ctx) {
  return ctx.trust_bundles == TrustBundles::home && !reads_of_provider(local_pod) && !trust_sources(local_pod).empty();
}

bool gets_home_trust(const kube::Object& local_pod, const ForgingContext& ctx) {
  return ctx.reads_trust_bundles && *ctx.reads_trust_bundles && wants_home_trust(local_pod, ctx);
}

void adapt_trust_bundles(json::object& pod_spec, const kube::Object& local_pod, const ForgingContext& ctx) {
  if (!gets_home_trust(local_pod, ctx)) return;
  const std::string copy = trust_copy_name(trust_sources(local_pod));
  for_each_object(pod_spec, "volumes", [&](json::object& volume) {
    json::object* projected = object_in(volume, "projected");
    if (!projected) return;
    for_each_object(*projected, "sources", [&](json::object& source) {
      const json::object* projection = object_in(source, source_field);
      if (!projection) return;
      json::object item{{"key", source_of(*projection).key}, {"path", kube::string_at(*projection, {"path"})}};
      // The owner of the file (Kubernetes 1.37) has the same field for a key of a ConfigMap.
      if (const json::value* owner = projection->if_contains("user"); owner && !owner->is_null()) item["user"] = *owner;
      source = json::object{{"configMap", json::object{{"name", copy}, {"items", json::array{std::move(item)}}}}};
    });
  });
}

std::string trust_copy_name(const TrustSources& sources) {
  std::string keys;
  for (const TrustSource& source : sources) keys += source.key + "\n";
  return std::string(copy_prefix) + sha256_hex(keys).substr(0, digits);
}

std::vector<std::string> projected_config_maps(const kube::Object& shadow) {
  std::vector<std::string> names;
  for (const json::value& volume : kube::array_at(shadow.spec(), {"pod", "volumes"}))
    for (const json::value& source : kube::array_at(volume, {"projected", "sources"}))
      if (const std::string_view name = kube::string_at(source, {"configMap", "name"}); !name.empty())
        names.emplace_back(name);
  return names;
}

bool mounts_trust_copy(const kube::Object& shadow, const TrustSources& sources) {
  if (sources.empty()) return false;
  const std::vector<std::string> names = projected_config_maps(shadow);
  return std::ranges::find(names, trust_copy_name(sources)) != names.end();
}

bool selects(const TrustSource& source, const kube::Object& bundle) {
  if (!source.selector || kube::string_at(bundle.spec(), {"signerName"}) != source.signer) return false;
  const json::object& labels = bundle.labels();
  if (!covers(labels, kube::object_at(*source.selector, {"matchLabels"}))) return false;
  return std::ranges::all_of(kube::array_at(*source.selector, {"matchExpressions"}),
                             [&labels](const json::value& expression) { return meets(labels, expression); });
}

std::string merge_anchors(std::span<const std::string> texts) {
  std::set<std::string> anchors;
  for (const std::string& text : texts)
    for (std::string& anchor : read_certificates(text)) anchors.insert(std::move(anchor));
  return write_certificates({anchors.begin(), anchors.end()});
}

std::size_t TrustTexts::bytes() const {
  std::size_t sum = 0;
  for (const auto& [key, text] : by_key) sum += key.size() + text.size();
  return sum;
}

void note_missing(TrustTexts& texts, const TrustSource& source) {
  if (source.optional)
    texts.by_key[source.key].clear();
  else
    texts.missing.push_back(in_words(source));
}

std::string describe_trust(const TrustTexts& texts, const ClusterPair& clusters) {
  if (texts.bytes() > max_trust_bytes)
    return "the trust bundles of this pod have " + std::to_string((texts.bytes() + 1023) / 1024) +
           " KiB together, and at most " + std::to_string(max_trust_bytes / 1024) + " KiB are brought to cluster " +
           clusters.remote + ": mount fewer or smaller ones";
  if (texts.missing.empty()) return {};
  return "the pod waits in cluster " + clusters.remote + " for " + kube::join_some(texts.missing, max_named) +
         ", which cluster " + clusters.local +
         " does not have: create what is missing, or mount it with optional: true";
}

kube::Object forge_trust_copy(const kube::ObjectKey& key, const TrustTexts& texts, const ClusterPair& clusters) {
  kube::Object copy = kube::Object::make(kube::resources::config_maps, key);
  // Without the labels of reflection, which removes what bears them and has no original.
  copy.set_label(api::labels::trust_of_home, clusters.local);
  json::object data;
  for (const auto& [name, text] : texts.by_key) data[name] = text;
  copy.set_annotation(api::annotations::trust_digest, sha256_hex(json::serialize(data)));
  copy.tree()["data"] = std::move(data);
  return copy;
}

bool is_trust_copy(const kube::Object& object, const ClusterPair& clusters) {
  return object.label(api::labels::trust_of_home) == clusters.local;
}

bool is_up_to_date(const kube::Object& copy, const kube::Object& wanted) {
  return copy.annotation(api::annotations::trust_digest) == wanted.annotation(api::annotations::trust_digest);
}

}  // namespace liqo::core
