#include "core/offloading/ephemeral_containers.hpp"

#include <algorithm>
#include <ranges>

#include "core/common/bounded.hpp"
#include "core/common/json_values.hpp"
#include "core/offloading/api_server.hpp"
#include "core/offloading/home_root_ca.hpp"
#include "core/offloading/pod_reads.hpp"
#include "core/offloading/refused_container.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

namespace annotations = api::annotations;

constexpr std::string_view field = "ephemeralContainers";
/// Kubernetes stores no more than this in all annotations of an object, so every stored note is read.
constexpr std::size_t max_note = 256 * 1024;
constexpr std::size_t max_words = 500;
/// The most bytes that are copied of the provider's statuses.
constexpr std::size_t max_bytes = 64 << 10;

constexpr std::string_view made_again = "the pod there was made again after it had run";
constexpr std::string_view not_carried = "its version of Liqo does not carry them";
constexpr std::string_view without_words = "it does not say why";

const json::array& in_shadow(const kube::Object& shadow) { return kube::array_at(shadow.spec(), {"pod", field}); }

const json::value* status_of(const kube::Object& pod, std::string_view name) {
  return find_named(kube::array_at(pod.status(), {"ephemeralContainerStatuses"}), name);
}

bool has_ended(const json::value* status) { return status && kube::find(*status, {"state", "terminated"}); }
bool has_run(const json::value* status) {
  return has_ended(status) || (status && kube::find(*status, {"state", "running"}));
}

/// The container as it is sent, in a spec of its own: with the address of home's API server if the other containers
/// have that.
json::object spec_with(const json::value& container, const kube::Object& local_pod, std::string_view remote_namespace,
                       const ForgingContext& ctx) {
  json::object spec{{field, json::array{container}}};
  if (api_server_support_of(local_pod, ctx) == ApiServerSupport::token_api) {
    name_home_root_ca(spec, ctx);
    adapt_environment(spec, ctx);
  }
  adapt_reads(spec, local_pod, remote_namespace, ctx);
  // The API server sets `resources` on every container when it stores one, but refuses them in ephemeral containers.
  for_each_object(spec, field, [](json::object& forged) { forged.erase("resources"); });
  return spec;
}

/// The reasons for which the Pod lacks ephemeral containers, by their names.
json::object read_note(const kube::Object& pod) {
  const std::string_view text = pod.annotation(annotations::ephemeral_left_out);
  if (text.empty() || text.size() > max_note) return {};
  auto document = kube::parse_json(text, 2);
  json::object* note = document ? document->if_object() : nullptr;
  return note ? std::move(*note) : json::object();
}

json::value refused(const json::value& container, std::string_view provider, std::string_view words) {
  const std::string message = "cluster " + std::string(provider) +
                              " does not run the ephemeral container: " + kube::one_line(words, max_refusal);
  return refused_container(container, message);
}

/// The provider's objections to ephemeral containers of one pod.
struct Objections {
  json::object note;         ///< the annotation of the Pod
  std::string_view refusal;  ///< for the first one that the ShadowPod lacks, "" = none
};

/// Why the provider does not run the container, "" = no reason is known.
std::string_view words_against(std::string_view name, const StatusObjects& of, const Objections& said, bool ran) {
  if (said.note.contains(name)) {
    const std::string_view words = kube::string_at(said.note, {name});
    return words.empty() ? without_words : words;
  }
  if (!takes_ephemeral(*of.remote)) return not_carried;
  if (of.shadow && find_named(in_shadow(*of.shadow), name)) return {};
  if (of.shadow && ran) return made_again;
  return said.refusal;
}

}  // namespace

bool takes_ephemeral(const kube::Object& remote) { return remote.has_annotation(annotations::applied_spec); }

std::optional<json::object> plan_shadow_ephemeral(const kube::Object& local_pod, const kube::Object& shadow,
                                                  const ForgingContext& ctx) {
  const json::array& have = in_shadow(shadow);
  const json::array& all = kube::array_at(local_pod.spec(), {field});
  const auto next = std::ranges::find_if(all, [&](const json::value& container) {
    const std::string_view name = kube::string_at(container, {"name"});
    return !find_named(have, name) && !has_run(status_of(local_pod, name));
  });
  if (next == all.end() || have.size() >= max_containers) return std::nullopt;
  json::object added = spec_with(*next, local_pod, shadow.ns(), ctx);
  json::object metadata{{"uid", shadow.uid()}, {"resourceVersion", shadow.resource_version()}};
  if (json::object reads = forge_reads(local_pod, added); !reads.empty()) metadata["annotations"] = std::move(reads);
  json::array wanted = have;
  wanted.push_back(std::move(added[field].get_array().front()));
  return json::object{{"metadata", std::move(metadata)},
                      {"spec", json::object{{"pod", json::object{{field, std::move(wanted)}}}}}};
}

std::optional<EphemeralAddition> plan_ephemeral_addition(const kube::Object& shadow, const kube::Object& pod,
                                                         const PodPolicy& policy) {
  if (in_shadow(shadow).empty()) return std::nullopt;
  const json::array& have = kube::array_at(pod.spec(), {field});
  const json::object note = read_note(pod);
  for (const json::value& container : in_shadow(shadow)) {
    const std::string_view name = kube::string_at(container, {"name"});
    if (!container.is_object() || name.empty() || find_named(have, name) || note.contains(name)) continue;
    json::object added = container.get_object();
    if (policy.always_pull_images) added["imagePullPolicy"] = "Always";
    const json::object metadata{{"resourceVersion", pod.resource_version()}};
    return EphemeralAddition{
        .name = std::string(name),
        .patch = {{"metadata", metadata}, {"spec", json::object{{field, json::array{std::move(added)}}}}}};
  }
  return std::nullopt;
}

json::object ephemeral_refusal_patch(const kube::Object& pod, std::string_view name, std::string_view words) {
  json::object note = read_note(pod);
  note[name] = kube::cut_text(words, max_words);
  const json::object changed{{annotations::ephemeral_left_out, json::serialize(note)}};
  return {{"metadata", json::object{{"uid", pod.uid()}, {"annotations", changed}}}};
}

void leave_out_ephemeral(kube::Object& pod, const kube::Object& shadow) {
  json::object note;
  for (const json::value& container : in_shadow(shadow)) note[kube::string_at(container, {"name"})] = made_again;
  if (!note.empty()) pod.set_annotation(annotations::ephemeral_left_out, json::serialize(note));
}

json::array ephemeral_statuses(const StatusObjects& of, std::string_view provider, std::string_view refusal) {
  json::array statuses;
  const json::array& containers = kube::array_at(of.local.spec(), {field});
  if (containers.empty()) return statuses;
  Objections said{.note = read_note(*of.remote), .refusal = refusal};
  Bounds bounds{.left = max_bytes};
  for (const json::value& container : containers) {
    if (statuses.size() >= max_containers) break;
    const std::string_view name = kube::string_at(container, {"name"});
    const json::value* have = status_of(of.local, name);
    const json::value* reported = has_ended(have) ? nullptr : status_of(*of.remote, name);
    if (reported && bounds.left > 0) {
      statuses.push_back(bounded(*reported, bounds));
      continue;
    }
    // The API server does not let the status of a container that has ended change.
    const bool is_asked_for = !has_ended(have) && !reported;
    const std::string_view words = is_asked_for ? words_against(name, of, said, has_run(have)) : std::string_view();
    // Ephemeral containers are sent one at a time, so the refusal is about one of them.
    if (!said.refusal.empty() && words == said.refusal) said.refusal = {};
    if (!words.empty())
      statuses.push_back(refused(container, provider, words));
    else if (have)
      statuses.push_back(*have);
  }
  return statuses;
}

std::string why_refused(const kube::Object& local_pod, std::string_view container) {
  for (std::string_view list : {"containerStatuses", "ephemeralContainerStatuses"})
    for (const json::value& status : kube::array_at(local_pod.status(), {list}) | std::views::take(max_containers)) {
      if (!container.empty() && kube::string_at(status, {"name"}) != container) continue;
      if (kube::string_at(status, {"state", "terminated", "reason"}) == api::reasons::offloading_refused)
        return std::string(kube::string_at(status, {"state", "terminated", "message"}));
    }
  return {};
}

}  // namespace liqo::core
