#include "core/offloading/refused_orders.hpp"
#include "core/common/digest.hpp"

#include <algorithm>

namespace liqo::core {
namespace json = kube::json;
namespace {

/// When one refused pod is accepted, this many others of its group ask again: a group empties in few rounds, and a
/// single free place costs two requests.
constexpr std::size_t max_at_once = 2;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

/// The text with "#" for the pod's name and for each word with a digit, so that refusals of similar pods are equal.
std::string without_numbers(std::string_view words, std::string_view name) {
  std::string kept;
  for (std::size_t at = 0; at < words.size();) {
    const auto end = std::find_if_not(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), is_word);
    const std::string_view word = words.substr(at, static_cast<std::size_t>(end - words.begin()) - at);
    if (word.empty()) {
      kept += words[at++];
      continue;
    }
    const bool varies = word == name || std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
    kept += varies ? std::string_view("#") : word;
    at += word.size();
  }
  return kept;
}

}  // namespace

std::string refusal_group(const kube::Object& local, std::string_view words) {
  json::array demand;
  for (std::string_view list : {"containers", "initContainers"})
    for (const json::value& container : kube::array_at(local.spec(), {list}))
      demand.push_back(kube::object_at(container, {"resources"}));
  for (std::string_view field : {"resources", "overhead"}) demand.push_back(kube::object_at(local.spec(), {field}));
  return std::string(local.ns()) + "/" + digest_hex(json::serialize(demand) + without_numbers(words, local.name()));
}

std::vector<kube::ObjectKey> RefusedOrders::changed(const kube::ObjectKey& pod, const std::string& group) {
  const auto known = group_of_.find(pod);
  return known == group_of_.end() || known->second == group ? std::vector<kube::ObjectKey>() : left(pod);
}

bool RefusedOrders::refused(const kube::ObjectKey& pod, std::string group) {
  Group& of = groups_[group];
  group_of_.insert_or_assign(pod, std::move(group));
  of.asking.erase(pod);
  if (of.asking.empty()) {
    of.waiting.erase(pod);
    of.asking.insert(pod);
    return true;
  }
  of.waiting.insert(pod);
  return false;
}

bool RefusedOrders::waits(const kube::ObjectKey& pod) const {
  const auto known = group_of_.find(pod);
  return known != group_of_.end() && groups_.at(known->second).waiting.contains(pod);
}

std::vector<kube::ObjectKey> RefusedOrders::release(const std::string& name, std::size_t max_released) {
  std::vector<kube::ObjectKey> released;
  const auto found = groups_.find(name);
  Group& group = found->second;
  while (released.size() < max_released && !group.waiting.empty()) {
    auto moved = group.waiting.extract(group.waiting.begin());
    released.push_back(moved.value());
    group.asking.insert(std::move(moved));
  }
  if (group.asking.empty()) groups_.erase(found);
  return released;
}

std::vector<kube::ObjectKey> RefusedOrders::taken(const kube::ObjectKey& pod) {
  const auto known = group_of_.extract(pod);
  if (known.empty()) return {};
  Group& group = groups_.at(known.mapped());
  group.asking.erase(pod);
  group.waiting.erase(pod);
  return release(known.mapped(), max_at_once);
}

std::vector<kube::ObjectKey> RefusedOrders::left(const kube::ObjectKey& pod) {
  const auto known = group_of_.extract(pod);
  if (known.empty()) return {};
  Group& group = groups_.at(known.mapped());
  group.asking.erase(pod);
  group.waiting.erase(pod);
  return release(known.mapped(), group.asking.empty() ? 1 : 0);
}

std::vector<kube::ObjectKey> RefusedOrders::asking() const {
  std::vector<kube::ObjectKey> all;
  for (const auto& [name, group] : groups_) all.insert(all.end(), group.asking.begin(), group.asking.end());
  return all;
}

}  // namespace liqo::core
