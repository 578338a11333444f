#include "model/info/answers.hpp"

#include <algorithm>

#include "core/common/names.hpp"
#include "core/slices/request.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/quantity.hpp"
#include "kube/base/text.hpp"
#include "kube/k8s/condition.hpp"
#include "model/resources.hpp"

namespace liqoctl::model {
namespace {

using kube::string_at;

/// The amounts of `wanted` that `has` lacks, except those that no node can have.
json::object differing(const json::object& wanted, const json::object& has) {
  json::object out;
  for (const auto& [key, amount] : wanted) {
    const auto readable = kube::Quantity::from_json(amount);
    if (!readable || readable->sign() < 0 || !liqo::core::is_label_key(key)) continue;
    const json::value* there = has.if_contains(key);
    if (!there || !same_amounts({{key, amount}}, {{key, *there}})) out[key] = amount;
  }
  return out;
}

}  // namespace

std::string answer_text(const liqo::api::ResourceSlice& slice) {
  return json::serialize(kube::array_at(slice.object().status(), {"conditions"})) + json::serialize(slice.granted());
}

bool answers(const liqo::api::ResourceSlice& slice) {
  if (slice.slice_class() != liqo::core::default_class) return !slice.granted().empty();
  json::object relevant;
  for (const auto& [key, amount] : slice.requested()) {
    const json::value* granted = slice.granted().if_contains(key);
    if (granted) relevant[key] = *granted;
  }
  return same_amounts(slice.requested(), relevant);
}

std::string node_message(const kube::Object& node) {
  const json::object* ready = kube::find_condition(node.status(), "Ready");
  if (!ready || string_at(*ready, {"status"}) == "True") return "";
  return kube::printable(string_at(*ready, {"message"}).substr(0, 512));
}

std::string who_decides(std::string_view slice_class) {
  if (liqo::core::is_built_in_class(slice_class)) return "";
  return "; class " + kube::printable(slice_class.substr(0, 100)) +
         " is none of Liqo's: a controller of the provider's own has to answer; ask its operator whether there is one";
}

std::string not_denied(const std::vector<kube::Object>& slices, std::string_view consumer) {
  std::vector<std::string_view> left;
  for (const kube::Object& object : slices) {
    const liqo::api::ResourceSlice slice(object);
    if (!object.is_deleting() && slice.consumer() == consumer &&
        !slice.is_denied(liqo::api::slice_conditions::resources))
      left.push_back(object.name());
  }
  return kube::join(left, ", ");
}

const kube::Object* node_to_wait_for(const std::vector<kube::Object>& virtual_nodes, std::string_view slice) {
  const auto own = std::ranges::find(virtual_nodes, slice, &kube::Object::name);
  if (own != virtual_nodes.end()) return &*own;
  return virtual_nodes.empty() ? nullptr : &virtual_nodes.front();
}

std::string why_node_is_not_ready(const kube::Object* slice, const kube::Object* virtual_node,
                                  const kube::Object* node) {
  if (!virtual_node) return "there is no such VirtualNode";
  if (!node) return "there is no such Node yet";
  const json::object& hard = kube::object_at(virtual_node->spec(), {"resourceQuota", "hard"});
  if (slice && slice->name() == virtual_node->name())
    if (const auto left = differing(kube::object_at(slice->status(), {"resources"}), hard); !left.empty())
      return "it does not have " + in_words(left) + " yet";
  if (const auto left = differing(hard, kube::object_at(node->status(), {"allocatable"})); !left.empty())
    return "it does not have " + in_words(left) + " yet";
  const json::object* ready = kube::find_condition(node->status(), "Ready");
  if (!ready) return "it has no condition Ready yet";
  if (string_at(*ready, {"status"}) == "True") return "";
  return "Ready is " + kube::printable(string_at(*ready, {"status"})) + ": " + node_message(*node);
}

}  // namespace liqoctl::model
