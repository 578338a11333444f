#include "model/resources.hpp"

#include <algorithm>
#include <array>

#include "kube/base/quantity.hpp"
#include "text/width.hpp"

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

/// An amount as people write it, where it is one.
std::string readable(const std::string& amount) {
  const auto quantity = kube::Quantity::parse(amount);
  return quantity && amount.ends_with('k') ? quantity->readable() : text::printable(amount);
}

}  // namespace

kube::Result<json::object> resource_list(const ResourceFlags& flags) {
  json::object out;
  std::optional<kube::Failure> mistake;
  const auto add = [&](const std::string& flag, std::string_view key, std::string_view amount) {
    if (mistake) return;
    const auto quantity = kube::Quantity::parse(amount);
    if (key.empty() || out.contains(key)) {
      mistake.emplace(
          kube::Errc::invalid_input,
          flag + (key.empty() ? " has no resource name" : " names '" + std::string(key) + "' a second time"));
    } else if (!quantity || quantity->sign() < 0) {
      mistake.emplace(kube::Errc::invalid_input,
                      flag + ": '" + std::string(amount) + "' is not a valid quantity (examples: 4, 500m, 8Gi)");
    } else {
      out[key] = amount;
    }
  };
  if (!flags.cpu.empty()) add("--cpu", "cpu", flags.cpu);
  if (!flags.memory.empty()) add("--memory", "memory", flags.memory);
  if (!flags.pods.empty()) add("--pods", "pods", flags.pods);
  for (const std::string& other : flags.others) {
    const std::size_t equal = other.find('=');
    if (equal == std::string::npos)
      return kube::fail(kube::Errc::invalid_input,
                        "--resource '" + other + "' is not name=amount, e.g. nvidia.com/gpu=2");
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
  std::string out;
  for (const auto& [key, amount] : in_order(resources))
    out += (out.empty() ? "" : ", ") + text::printable(key) + " " + readable(amount);
  return out.empty() ? "nothing" : out;
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
