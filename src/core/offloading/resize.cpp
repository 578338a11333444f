#include "core/offloading/resize.hpp"

#include <charconv>

#include "core/common/being_resized.hpp"
#include "core/common/digest.hpp"
#include "core/common/json_values.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/quantity.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace annotations = api::annotations;
namespace {

// What Kubernetes lets change in a running container.
constexpr std::string_view container_lists[] = {"containers", "initContainers"};
constexpr std::string_view parts[] = {"requests", "limits"};
constexpr std::string_view names[] = {"cpu", "memory"};

constexpr std::size_t max_words = 500;
/// Begins a note between the two steps of a resize.
const std::string being_resized = "resizing-";

std::optional<kube::Quantity> amount_of(const json::object& container, std::string_view part, std::string_view name) {
  const json::value* value = kube::find(container, {"resources", part, name});
  if (!value) return std::nullopt;
  auto amount = kube::Quantity::from_json(*value);
  return amount ? std::optional(*amount) : std::nullopt;
}

/// The amounts of `wanted` that `have` has otherwise, as `resources`; {} = none.
json::object other_amounts(const json::object& wanted, const json::object& have) {
  json::object changed;
  for (const std::string_view part : parts)
    for (const std::string_view name : names) {
      const auto amount = amount_of(wanted, part, name);
      if (amount && amount != amount_of(have, part, name))
        kube::ensure_object(changed, part)[name] = *kube::find(wanted, {"resources", part, name});
    }
  return changed;
}

/// The other amounts in pod-level resources, if both pods have them: they cannot be added or removed.
json::object other_amounts_of_pod(const json::object& wanted, const json::object& have) {
  return kube::object_at(have, {"resources"}).empty() ? json::object() : other_amounts(wanted, have);
}

void add_amounts(std::string& text, const json::object& of) {
  for (const std::string_view part : parts)
    for (const std::string_view name : names)
      if (const auto amount = amount_of(of, part, name))
        text.append(" ").append(part).append(".").append(name).append("=").append(amount->text());
}

const json::object& spec_of(const kube::Object& shadow) { return api::ShadowPod(shadow).pod_spec(); }

/// The digest that was refused, and the reason.
std::pair<std::string_view, std::string_view> read_refusal(const kube::Object& pod) {
  const std::string_view note = pod.annotation(annotations::resize_refused);
  const std::size_t space = note.find(' ');
  if (space == std::string_view::npos) return {};
  return {note.substr(0, space), note.substr(space + 1)};
}

/// The digest in a note, without generation and mark.
std::string_view digest_of(std::string_view note) { return note.substr(note.rfind('/') + 1); }

json::object with_annotations(const kube::Object& pod, json::object changed) {
  return {{"metadata", json::object{{"uid", pod.uid()}, {"annotations", std::move(changed)}}}};
}

}  // namespace

bool asks_otherwise(const json::object& wanted, const json::object& have) {
  for (const std::string_view list : container_lists)
    for (const json::value& container : kube::array_at(wanted, {list})) {
      if (!container.is_object()) continue;
      const json::value* other = find_named(kube::array_at(have, {list}), kube::string_at(container, {"name"}));
      if (other && !other_amounts(container.get_object(), other->get_object()).empty()) return true;
    }
  return !other_amounts_of_pod(wanted, have).empty();
}

std::optional<json::object> plan_shadow_resize(const kube::Object& local_pod, const kube::Object& shadow) {
  json::object pod;
  for (const std::string_view list : container_lists) {
    // A merge patch replaces lists as a whole.
    json::array containers = kube::array_at(spec_of(shadow), {list});
    bool is_other = false;
    for (json::value& container : containers) {
      if (!container.is_object()) continue;
      const json::value* wanted =
          find_named(kube::array_at(local_pod.spec(), {list}), kube::string_at(container, {"name"}));
      if (!wanted) continue;
      for (const auto& [part, amounts] : other_amounts(wanted->get_object(), container.get_object())) {
        is_other = true;
        json::object& resources = kube::ensure_object(container.get_object(), "resources");
        for (const auto& [name, amount] : amounts.get_object()) kube::ensure_object(resources, part)[name] = amount;
      }
    }
    if (is_other) pod[list] = std::move(containers);
  }
  if (json::object amounts = other_amounts_of_pod(local_pod.spec(), spec_of(shadow)); !amounts.empty())
    pod["resources"] = std::move(amounts);
  if (pod.empty()) return std::nullopt;
  const json::object metadata{{"uid", shadow.uid()}, {"resourceVersion", shadow.resource_version()}};
  return json::object{{"metadata", metadata}, {"spec", json::object{{"pod", std::move(pod)}}}};
}

bool has_sent(const kube::Object& local_pod, const kube::Object& shadow) {
  return !asks_otherwise(local_pod.spec(), spec_of(shadow)) &&
         kube::array_at(local_pod.spec(), {"ephemeralContainers"}).size() <=
             kube::array_at(spec_of(shadow), {"ephemeralContainers"}).size();
}

std::string resources_digest(const json::object& pod_spec) {
  std::string text;
  for (const std::string_view list : container_lists)
    for (const json::value& container : kube::array_at(pod_spec, {list})) {
      if (!container.is_object()) continue;
      text.append(list).append("/").append(kube::string_at(container, {"name"}));
      add_amounts(text, container.get_object());
      text += "\n";
    }
  add_amounts(text, pod_spec);
  return digest_hex(text);
}

std::string applied_note(const kube::Object& shadow) {
  return std::to_string(shadow.generation()) + "/" + resources_digest(spec_of(shadow));
}

std::optional<std::int64_t> applied_generation(const kube::Object& pod) {
  const std::string_view note = pod.annotation(annotations::applied_resources);
  if (note.empty()) return std::nullopt;
  std::int64_t generation = 0;
  std::from_chars(note.data(), note.data() + note.size(), generation);
  return generation;
}

std::optional<PodResize> plan_pod_resize(const kube::Object& shadow, const kube::Object& pod) {
  const std::string_view applied = pod.annotation(annotations::applied_resources);
  const std::string note = applied_note(shadow), begun = being_resized + note;
  if (applied.empty() || applied == note) return std::nullopt;
  json::object noted{{annotations::applied_resources, note}};
  if (pod.has_annotation(annotations::resize_refused)) noted[annotations::resize_refused] = nullptr;
  json::object done = with_annotations(pod, std::move(noted));
  // Another field of the ShadowPod has changed, so only the note is written.
  if (!applied.starts_with(being_resized) && digest_of(applied) == digest_of(note))
    return resize_action::Note{std::move(done)};
  json::object spec;
  for (const std::string_view list : container_lists) {
    json::array changed;
    for (const json::value& container : kube::array_at(spec_of(shadow), {list})) {
      if (!container.is_object()) continue;
      const std::string_view name = kube::string_at(container, {"name"});
      const json::value* have = find_named(kube::array_at(pod.spec(), {list}), name);
      if (!have) continue;
      if (json::object amounts = other_amounts(container.get_object(), have->get_object()); !amounts.empty())
        changed.push_back(json::object{{"name", name}, {"resources", std::move(amounts)}});
    }
    if (!changed.empty()) spec[list] = std::move(changed);
  }
  if (json::object amounts = other_amounts_of_pod(spec_of(shadow), pod.spec()); !amounts.empty())
    spec["resources"] = std::move(amounts);
  if (spec.empty()) return resize_action::Note{std::move(done)};
  if (applied != begun) return resize_action::Begin{with_annotations(pod, {{annotations::applied_resources, begun}})};
  return resize_action::Apply{
      .patch = {{"metadata", json::object{{"resourceVersion", pod.resource_version()}}}, {"spec", std::move(spec)}},
      .done = std::move(done)};
}

std::optional<json::object> resize_refusal_patch(const kube::Object& shadow, const kube::Object& pod,
                                                 std::string_view words) {
  const std::string digest = resources_digest(spec_of(shadow));
  const std::string_view cut = kube::cut_text(words, max_words);
  if (read_refusal(pod) == std::pair<std::string_view, std::string_view>(digest, cut)) return std::nullopt;
  return with_annotations(pod, {{annotations::resize_refused, digest + " " + std::string(cut)}});
}

bool is_without_resize(const kube::Failure& failure) {
  return failure.is_not_found() && failure.text().contains("could not find the requested resource");
}

bool has_resized(const kube::Object& shadow, const kube::Object& remote) {
  return applied_generation(remote).value_or(0) >= shadow.generation() && !is_being_resized(remote);
}

bool takes_resize(const kube::Object& remote) { return remote.has_annotation(annotations::applied_resources); }

std::string resize_left_out(const kube::Object& remote) {
  const auto [digest, words] = read_refusal(remote);
  const std::string_view applied = remote.annotation(annotations::applied_resources);
  if (digest.empty() || (!applied.starts_with(being_resized) && digest == digest_of(applied))) return {};
  return std::string(kube::cut_text(words, max_words));
}

}  // namespace liqo::core
