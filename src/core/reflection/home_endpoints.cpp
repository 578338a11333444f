#include "core/reflection/home_endpoints.hpp"

#include <algorithm>

namespace liqo::core::reflection {

OutwardAddresses OutwardAddresses::of(std::span<const kube::Object> configurations, std::span<const Cidr> declared) {
  OutwardAddresses made;
  made.has_network_ = !configurations.empty();
  if (!made.has_network_) return made;
  made.own_.assign(declared.begin(), declared.end());
  for (const kube::Object& configuration : configurations)
    for (const kube::json::value& range : kube::array_at(configuration.spec(), {"local", "cidr", "pod"}))
      if (const auto* text = range.if_string())
        if (const auto cidr = Cidr::parse(*text)) made.own_.push_back(*cidr);
  made.own_ = merge_ranges(std::move(made.own_));
  return made;
}

std::optional<IpAddress> OutwardAddresses::outward(const IpAddress& address,
                                                   std::optional<std::string_view> assigned) const {
  const auto has = [&address](const Cidr& range) { return range.contains(address); };
  if (!has_network_ || std::ranges::any_of(own_, has)) return address;
  if (!assigned) return std::nullopt;
  return IpAddress::parse(*assigned);
}

}  // namespace liqo::core::reflection
