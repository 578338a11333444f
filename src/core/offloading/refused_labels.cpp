#include "core/offloading/refused_labels.hpp"

#include <algorithm>

#include "core/policy/key_table.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// A webhook's words have a few hundred bytes; each label is looked for in them.
constexpr std::size_t max_words = 8'192;
constexpr std::size_t max_named = 8;

bool may_go_without(std::string_view key, const json::value& value) {
  return value.is_string() && is_left_out_label(key, value.get_string());
}

}  // namespace

std::vector<std::string> refused_labels(const kube::Object& shadow, std::string_view words) {
  words = words.substr(0, max_words);
  std::vector<std::string> refused;
  for (const auto& [key, value] : shadow.labels())
    if (may_go_without(key, value) && words.contains("label " + std::string(key) + " ")) refused.emplace_back(key);
  return refused;
}

void leave_out_labels(kube::Object& shadow, std::span<const std::string> keys) {
  json::object& labels = kube::ensure_object(shadow.mutable_metadata(), "labels");
  for (const std::string& key : keys) labels.erase(key);
  if (!shadow.has_annotation(api::annotations::reflected_keys)) return;
  const std::string list(shadow.annotation(api::annotations::reflected_keys));
  const std::size_t half = std::min(list.find(';'), list.size());
  std::vector<std::string_view> listed = kube::split(std::string_view(list).substr(0, half), ',');
  std::erase_if(listed, [keys](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); });
  shadow.set_annotation(api::annotations::reflected_keys, kube::join(listed, ",") + list.substr(half));
}

void keep_left_out(json::object& labels, const kube::Object& shadow) {
  std::vector<std::string> gone;
  for (const auto& [key, value] : labels)
    if (may_go_without(key, value) && !shadow.has_label(key)) gone.emplace_back(key);
  for (const std::string& key : gone) labels.stable_erase(key);
}

std::string describe_refused_labels(std::span<const std::string> keys, std::string_view provider) {
  return "cluster " + std::string(provider) + " refuses label " + kube::join_some(keys, max_named) +
         ", so the pod is sent without; its administrator can allow it in the policy of this cluster";
}

}  // namespace liqo::core
