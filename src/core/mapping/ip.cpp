#include "liqo/core/mapping/ip.hpp"

#include <arpa/inet.h>

#include <charconv>

namespace liqo::core {
namespace {

/// The mask of byte `i` of an address under a prefix.
std::uint8_t mask_at(int prefix, std::size_t i) {
  const int bits = prefix - int(i) * 8;
  if (bits >= 8) return 0xff;
  if (bits <= 0) return 0;
  return std::uint8_t(0xff << (8 - bits));
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  if (text.empty() || text.size() > 45) return std::nullopt;
  const std::string terminated(text);
  if (terminated.contains('\0')) return std::nullopt;
  IpAddress address;
  address.v6 = text.contains(':');
  if (inet_pton(address.v6 ? AF_INET6 : AF_INET, terminated.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

std::string IpAddress::text() const {
  char buffer[INET6_ADDRSTRLEN] = {};
  inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), buffer, sizeof buffer);
  return buffer;
}

std::optional<Cidr> Cidr::parse(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto base = IpAddress::parse(text.substr(0, slash));
  if (!base) return std::nullopt;
  int prefix = 0;
  const std::string_view digits = text.substr(slash + 1);
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (failure != std::errc() || end != digits.data() + digits.size() || digits.size() > 3) return std::nullopt;
  if (prefix < 0 || prefix > int(base->size()) * 8) return std::nullopt;
  Cidr cidr{.base = *base, .prefix = prefix};
  for (std::size_t i = 0; i < cidr.base.size(); ++i) cidr.base.bytes[i] &= mask_at(prefix, i);
  return cidr;
}

bool Cidr::contains(const IpAddress& address) const {
  if (address.v6 != base.v6) return false;
  for (std::size_t i = 0; i < base.size(); ++i)
    if ((address.bytes[i] & mask_at(prefix, i)) != base.bytes[i]) return false;
  return true;
}

IpAddress move_into(const IpAddress& address, const Cidr& target) {
  if (address.v6 != target.base.v6) return address;
  IpAddress moved = target.base;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const std::uint8_t host = std::uint8_t(~mask_at(target.prefix, i));
    moved.bytes[i] = std::uint8_t(target.base.bytes[i] | (address.bytes[i] & host));
  }
  return moved;
}

kube::Result<void> IpMapping::add(std::span<const std::string> original, std::span<const std::string> remapped) {
  if (original.size() != remapped.size())
    return kube::fail(kube::Errc::invalid_input,
                      "as many remapped ranges are needed as original ones: " + std::to_string(original.size()) +
                          " and " + std::to_string(remapped.size()));
  std::vector<Pair> added;
  for (std::size_t i = 0; i < original.size(); ++i) {
    const auto from = Cidr::parse(original[i]);
    const auto to = Cidr::parse(remapped[i]);
    if (!from) return kube::fail(kube::Errc::invalid_input, "\"" + original[i] + "\" is no range of addresses");
    if (!to) return kube::fail(kube::Errc::invalid_input, "\"" + remapped[i] + "\" is no range of addresses");
    if (from->base.v6 != to->base.v6 || from->prefix != to->prefix)
      return kube::fail(kube::Errc::invalid_input, "the ranges " + original[i] + " and " + remapped[i] +
                                                       " have different sizes: addresses cannot be mapped one to one");
    added.push_back({*from, *to});
  }
  pairs_.insert(pairs_.end(), added.begin(), added.end());
  return {};
}

std::optional<std::string> IpMapping::remap(std::string_view address) const {
  const auto parsed = IpAddress::parse(address);
  if (!parsed) return std::nullopt;
  for (const Pair& pair : pairs_)
    if (pair.original.contains(*parsed)) return move_into(*parsed, pair.remapped).text();
  return std::string(address);
}

}  // namespace liqo::core
