#include "core/offloading/pod_reads.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "core/common/digest.hpp"
#include "core/common/home_names.hpp"
#include "core/common/json_values.hpp"
#include "core/common/meta.hpp"
#include "core/common/names.hpp"
#include "core/offloading/downward_text.hpp"
#include "core/offloading/service_account_token.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "core/policy/key_table.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

namespace annotations = api::annotations;

constexpr std::string_view container_lists[] = {"containers", "initContainers", "ephemeralContainers"};
constexpr std::string_view namespace_path = "metadata.namespace";
constexpr std::string_view labels_path = "metadata.labels", annotations_path = "metadata.annotations";
constexpr std::string_view key_begin = "['", key_end = "']";

/// The key in a path such as `metadata.labels['a.b/c']`; nothing if it is another path. Nothing is escaped in one.
std::optional<std::string_view> key_in(std::string_view path, std::string_view of) {
  if (!path.starts_with(of) || !path.substr(of.size()).starts_with(key_begin) || !path.ends_with(key_end))
    return std::nullopt;
  path.remove_prefix(of.size() + key_begin.size());
  if (path.size() < key_end.size()) return std::nullopt;
  path.remove_suffix(key_end.size());
  return path;
}

std::string path_of(std::string_view annotation) {
  std::string path(annotations_path);
  return ((path += key_begin) += annotation) += key_end;
}

/// The annotation by which the field with this path travels.
std::string read_annotation_of(std::string_view path) {
  if (const auto key = key_in(path, annotations_path)) return read_annotation(*key);
  return read_annotation("field:" + std::string(path));
}

/// Whether a pod has this for its whole life.
bool is_constant(std::string_view path) {
  return path == "metadata.uid" || path == namespace_path || path == "spec.nodeName" ||
         path == "spec.serviceAccountName";
}

/// The entries without those that liqod itself writes on pods at home, which a pod on a machine has not.
json::object without_notes(const json::object& entries, bool (&is_note)(std::string_view)) {
  json::object kept;
  for (const auto& [key, value] : entries)
    if (!is_note(key)) kept[key] = value;
  return kept;
}

/// What a kubelet at home would tell of the field; nothing if that is the provider's to tell.
std::optional<std::string> told_at_home(std::string_view path, const kube::Object& local_pod) {
  if (path == "metadata.uid") return std::string(local_pod.uid());
  if (path == namespace_path) return std::string(local_pod.ns());
  if (path == "spec.nodeName") return std::string(kube::string_at(local_pod.spec(), {"nodeName"}));
  if (path == "spec.serviceAccountName") return service_account_of(local_pod);
  if (path == labels_path) return downward_text(without_notes(local_pod.labels(), is_written_label));
  if (path == annotations_path) return downward_text(without_notes(local_pod.annotations(), is_written_annotation));
  if (const auto key = key_in(path, labels_path)) return std::string(local_pod.label(*key));
  if (const auto key = key_in(path, annotations_path)) return std::string(local_pod.annotation(*key));
  return std::nullopt;
}

bool is_of_liqo(std::string_view key) { return is_below(domain_of(key), "liqo.io"); }

bool lists(const std::vector<std::string>& keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

/// Whether a Pod may lack the annotation of its pod at home, or have another value.
bool may_differ_as_annotation(std::string_view key, const ForgingContext& ctx) {
  return !is_common_annotation(key) || is_of_liqo(key) || key == annotations::last_applied ||
         lists(ctx.patch.annotations_not_reflected, key);
}

/// Whether a Pod may lack the label of its pod at home, or have another value.
bool may_differ_as_label(std::string_view key, const ForgingContext& ctx) {
  // With some value at least, a provider leaves it out, or refuses it, so that it is not sent.
  return is_of_liqo(key) || is_left_out_label(key, "false") || lists(ctx.patch.labels_not_reflected, key);
}

/// Which references of one pod are to be rewritten.
struct Rewriting {
  const kube::Object& local_pod;
  const ForgingContext& ctx;
  bool home_namespace;  ///< differs from the twin's name, and is told

  bool covers(std::string_view path) const {
    if (path == namespace_path) return home_namespace;
    if (const auto key = key_in(path, annotations_path)) return may_differ_as_annotation(*key, ctx);
    if (const auto key = key_in(path, labels_path)) return may_differ_as_label(*key, ctx);
    return is_constant(path) || path == labels_path || path == annotations_path;
  }

  void redirect(json::object& reference) const {
    if (const std::string_view path = kube::string_at(reference, {"fieldPath"}); covers(path))
      reference["fieldPath"] = path_of(read_annotation_of(path));
  }

  void adapt_variable(json::object& variable) const {
    json::object* source = object_in(variable, "valueFrom");
    json::object* reference = source ? object_in(*source, "fieldRef") : nullptr;
    if (!reference) return;
    const std::string_view path = kube::string_at(*reference, {"fieldPath"});
    if (!covers(path) || !is_constant(path)) return redirect(*reference);
    std::string value = *told_at_home(path, local_pod);
    variable["value"] = value;
    variable.erase("valueFrom");
  }

  void adapt_files(json::object& source) const {
    for_each_object(source, "items", [this](json::object& file) {
      if (json::object* reference = object_in(file, "fieldRef")) redirect(*reference);
    });
  }
};

std::string of_provider() { return std::string(annotations::downward_api) + "=provider"; }

/// Whether a projected volume has a token beside its other files.
bool has_token(const json::array& sources) {
  return std::ranges::any_of(sources,
                             [](const json::value& source) { return !!kube::find(source, {"serviceAccountToken"}); });
}

void collect_files(const json::value& source, std::vector<std::string_view>& paths) {
  for (const json::value& file : kube::array_at(source, {"items"}))
    if (const std::string_view path = kube::string_at(file, {"fieldRef", "fieldPath"}); !path.empty())
      paths.push_back(path);
}

/// The paths of all fields that the pod reads. `beside_tokens`: also those of volumes that have a token.
std::vector<std::string_view> paths_in(const json::object& pod_spec, bool beside_tokens = true) {
  std::vector<std::string_view> paths;
  for (std::string_view list : container_lists)
    for (const json::value& container : kube::array_at(pod_spec, {list}))
      for (const json::value& variable : kube::array_at(container, {"env"}))
        if (const auto path = kube::string_at(variable, {"valueFrom", "fieldRef", "fieldPath"}); !path.empty())
          paths.push_back(path);
  for (const json::value& volume : kube::array_at(pod_spec, {"volumes"})) {
    if (const json::value* files = kube::find(volume, {"downwardAPI"})) collect_files(*files, paths);
    const json::array& sources = kube::array_at(volume, {"projected", "sources"});
    if (!beside_tokens && has_token(sources)) continue;
    for (const json::value& source : sources)
      if (const json::value* files = kube::find(source, {"downwardAPI"})) collect_files(*files, paths);
  }
  return paths;
}

/// The annotations of ours that the references lead to.
std::set<std::string_view> reads_in(const json::object& sent_spec) {
  std::set<std::string_view> reads;
  for (const std::string_view path : paths_in(sent_spec))
    if (const auto key = key_in(path, annotations_path); key && key->starts_with(annotations::read_prefix))
      reads.insert(*key);
  return reads;
}

}  // namespace

std::string read_annotation(std::string_view what) {
  constexpr std::size_t digits = 32;
  return std::string(annotations::read_prefix) + sha256_hex(what).substr(0, digits);
}

bool reads_of_provider(const kube::Object& local_pod) {
  return local_pod.annotation(annotations::downward_api) == "provider" ||
         local_pod.annotation(annotations::api_server_support) == "remote";
}

bool reads_home_namespace(const kube::Object& local_pod, std::string_view remote_namespace, const ForgingContext& ctx) {
  if (remote_namespace == local_pod.ns()) return true;
  if (reads_of_provider(local_pod)) return false;
  const bool has_home_token = api_server_support_of(local_pod, ctx) == ApiServerSupport::token_api &&
                              !collect_token_requests(local_pod).empty();
  // The names of home lead to twins with the usual name alone.
  return has_home_token ||
         (ctx.knows_home_names && remote_namespace == default_twin_name(local_pod.ns(), ctx.clusters.local));
}

void adapt_reads(json::object& pod_spec, const kube::Object& local_pod, std::string_view remote_namespace,
                 const ForgingContext& ctx) {
  if (reads_of_provider(local_pod)) return;
  const Rewriting rewriting{
      .local_pod = local_pod,
      .ctx = ctx,
      .home_namespace = remote_namespace != local_pod.ns() && reads_home_namespace(local_pod, remote_namespace, ctx)};
  for (std::string_view list : container_lists)
    for_each_object(pod_spec, list, [&rewriting](json::object& container) {
      for_each_object(container, "env", [&](json::object& variable) { rewriting.adapt_variable(variable); });
    });
  for_each_object(pod_spec, "volumes", [&rewriting](json::object& volume) {
    if (json::object* files = object_in(volume, "downwardAPI")) rewriting.adapt_files(*files);
    if (json::object* projected = object_in(volume, "projected"))
      for_each_object(*projected, "sources", [&](json::object& source) {
        if (json::object* files = object_in(source, "downwardAPI")) rewriting.adapt_files(*files);
      });
  });
}

json::object forge_reads(const kube::Object& local_pod, const json::object& sent_spec) {
  json::object reads;
  const std::set<std::string_view> wanted = reads_in(sent_spec);
  if (wanted.empty()) return reads;
  for (const std::string_view path : paths_in(local_pod.spec())) {
    const std::string name = read_annotation_of(path);
    if (!wanted.contains(name) || reads.contains(name)) continue;
    if (auto told = told_at_home(path, local_pod)) reads[name] = *told;
  }
  return reads;
}

std::string refuse_reads(const json::object& reads) {
  const std::size_t bytes = annotation_bytes(reads);
  if (bytes <= max_read_bytes) return {};
  return "the pod reads " + std::to_string((bytes + 1023) / 1024) +
         " KiB of its own labels and annotations, and at most " + std::to_string(max_read_bytes / 1024) +
         " KiB reach a provider: put large texts into a ConfigMap, or annotate the pod with " + of_provider();
}

bool has_read(const json::object& reads, std::string_view annotation) {
  return !reads.empty() &&
         (reads.contains(read_annotation(annotation)) || reads.contains(read_annotation_of(annotations_path)));
}

std::string describe_read_namespace(const kube::Object& local_pod, std::string_view remote_namespace,
                                    const ForgingContext& ctx) {
  if (reads_of_provider(local_pod) || reads_home_namespace(local_pod, remote_namespace, ctx)) return {};
  const auto paths = paths_in(local_pod.spec(), false);
  if (std::ranges::find(paths, namespace_path) == paths.end()) return {};
  return "the pod reads its namespace (metadata.namespace), and is told " + std::string(remote_namespace) +
         ", the name in cluster " + ctx.clusters.remote + ", not " + std::string(local_pod.ns()) +
         ": offload the namespace under its own name (EnforceSameName), or annotate the pod with " + of_provider() +
         " if that is the right one";
}

}  // namespace liqo::core
