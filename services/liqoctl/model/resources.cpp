#include "model/resources.hpp"

#include <algorithm>
#include <array>

#include "kube/base/printable.hpp"
#include "kube/base/quantity.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/labels.hpp"

namespace liqoctl::model {
namespace {

constexpr std::array<std::string_view, 4> usual{"cpu", "memory", "pods", "ephemeral-storage"};

std::size_t rank(std::string_view key) {
  return std::size_t(std::find(usual.begin(), usual.end(), key) - usual.begin());
}

std::string amount_text(const json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  return json::serialize(value);
}

}  // namespace

std::string readable(const std::string& amount) {
  const auto quantity = kube::Quantity::parse(amount);
  return quantity && amount.ends_with('k') ? quantity->readable() : kube::printable(amount);
}

kube::Result<void> check_amount(std::string_view resource, std::string_view amount) {
  const auto quantity = kube::Quantity::parse(amount);
  if (!quantity || quantity->sign() < 0)
    return kube::fail(kube::Errc::invalid_input,
                      "'" + std::string(amount) + "' is not a valid quantity (examples: 4, 500m, 8Gi)");
  const bool needed = resource == "cpu" || resource == "memory" || resource == "pods";
  if (quantity->is_zero() && needed)
    return kube::fail(kube::Errc::invalid_input,
                      "a node with " + std::string(resource) + " 0 could run no pods: ask for more than 0");
  // A user who leaves the unit out does not mean bytes.
  const bool in_bytes = resource == "memory" || resource == "ephemeral-storage";
  if (in_bytes && !quantity->is_zero() && *quantity < kube::Quantity::parse("1Mi").value())
    return kube::fail(kube::Errc::invalid_input, std::string(resource) + " '" + std::string(amount) +
                                                     "' is less than 1Mi: without a unit it is in bytes (8Gi)");
  return {};
}

kube::Result<void> check_pair(std::string_view pair) {
  const std::size_t equal = pair.find('=');
  if (equal == std::string_view::npos || equal == 0)
    return kube::fail(kube::Errc::invalid_input,
                      "'" + std::string(pair) + "' is not name=amount, e.g. nvidia.com/gpu=2");
  return check_amount(pair.substr(0, equal), pair.substr(equal + 1));
}

kube::Result<json::object> resource_list(const ResourceFlags& flags) {
  json::object out;
  std::optional<kube::Failure> mistake;
  const auto add = [&](const std::string& flag, std::string_view key, std::string_view amount) {
    if (mistake) return;
    if (out.contains(key)) {
      mistake.emplace(kube::Errc::invalid_input, flag + " names '" + std::string(key) + "' a second time");
    } else if (const auto good = check_amount(key, amount); !good) {
      mistake.emplace(kube::Errc::invalid_input, flag + ": " + good.error().text());
    } else {
      out[key] = amount;
    }
  };
  if (!flags.cpu.empty()) add("--cpu", "cpu", flags.cpu);
  if (!flags.memory.empty()) add("--memory", "memory", flags.memory);
  if (!flags.pods.empty()) add("--pods", "pods", flags.pods);
  for (const std::string& other : flags.others) {
    const std::size_t equal = other.find('=');
    if (const auto good = check_pair(other); !good)
      return kube::fail(kube::Errc::invalid_input, "--resource: " + good.error().text());
    add("--resource", std::string_view(other).substr(0, equal), std::string_view(other).substr(equal + 1));
  }
  if (mistake) return std::unexpected(std::move(*mistake));
  return out;
}

std::vector<std::pair<std::string, std::string>> in_order(const json::object& resources) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [key, value] : resources) out.emplace_back(std::string(key), amount_text(value));
  std::sort(out.begin(), out.end(), [](const auto& left, const auto& right) {
    return std::pair(rank(left.first), left.first) < std::pair(rank(right.first), right.first);
  });
  return out;
}

std::string in_words(const json::object& resources) {
  if (resources.empty()) return "nothing";
  const auto told = [](const auto& one) { return kube::printable(one.first) + " " + readable(one.second); };
  return kube::join(in_order(resources) | std::views::transform(told), ", ");
}

std::string change_in_words(const json::object& before, const json::object& after) {
  const auto amount_in = [](const json::object& list, std::string_view key) {
    const json::value* found = list.if_contains(key);
    return found ? readable(amount_text(*found)) : std::string();
  };
  const auto told = [&](const auto& one) {
    const std::string was = amount_in(before, one.first), is = amount_in(after, one.first);
    const std::string change =
        was == is ? is
                  : (was.empty() ? "as the provider gives" : was) + " → " + (is.empty() ? "as the provider gives" : is);
    return kube::printable(one.first) + " " + change;
  };
  json::object all = before;
  for (const auto& [key, amount] : after) all[key] = amount;
  return all.empty() ? "nothing" : kube::join(in_order(all) | std::views::transform(told), ", ");
}

json::object had_by_nodes(const json::object& named, const std::vector<kube::Object>& nodes) {
  json::object out;
  for (const auto& [key, amount] : named) {
    kube::Quantity sum;
    for (const kube::Object& node : nodes) {
      if (node.label(liqo::api::labels::type) == liqo::api::labels::type_virtual_node) continue;
      const json::value* has = kube::find(node.status(), {"allocatable", std::string_view(key)});
      if (const auto some = has ? kube::Quantity::from_json(*has) : kube::Quantity()) sum += *some;
    }
    out[key] = sum.text();
  }
  return out;
}

std::string beyond_nodes(const json::object& granted, const std::vector<kube::Object>& nodes) {
  std::vector<std::string> beyond;
  const json::object had = had_by_nodes(granted, nodes);
  for (const auto& [key, amount] : in_order(granted)) {
    const auto wanted = kube::Quantity::parse(amount), has = kube::Quantity::from_json(had.at(key));
    if (!wanted || !has || !(*has < *wanted)) continue;
    beyond.push_back(kube::printable(key) + " " + readable(amount) + " (its nodes have " + readable(has->text()) + ")");
  }
  return kube::join(beyond, ", ");
}

json::object counted_use(const json::object& quota_status) {
  json::object out = kube::object_at(quota_status, {"used"});
  for (const auto& [key, amount] : kube::object_at(quota_status, {"reserved"})) {
    const json::value* there = out.if_contains(key);
    const auto used = there ? kube::Quantity::from_json(*there) : kube::Quantity();
    const auto reserved = kube::Quantity::from_json(amount);
    if (used && reserved) out[key] = (*used + *reserved).text();
  }
  return out;
}

json::object free_of(const kube::Object& quota) {
  const json::object used = counted_use(quota.status());
  json::object out;
  for (const auto& [key, amount] : kube::object_at(quota.spec(), {"resources"})) {
    const json::value* taken = used.if_contains(key);
    const auto granted = kube::Quantity::from_json(amount);
    const auto held = taken ? kube::Quantity::from_json(*taken) : kube::Quantity();
    // If the grant was lowered, more than that may still be in use.
    if (granted && held) out[key] = (*held < *granted ? *granted - *held : kube::Quantity()).text();
  }
  return out;
}

bool same_amounts(const json::object& left, const json::object& right) {
  if (left.size() != right.size()) return false;
  return std::all_of(left.begin(), left.end(), [&](const auto& entry) {
    const json::value* other = right.if_contains(entry.key());
    if (!other) return false;
    const auto mine = kube::Quantity::from_json(entry.value()), theirs = kube::Quantity::from_json(*other);
    return mine && theirs ? *mine == *theirs : entry.value() == *other;
  });
}

}  // namespace liqoctl::model
