#include "core/common/ip.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <tuple>

#include "kube/base/printable.hpp"
#include "kube/base/scalar.hpp"
#include "kube/base/text.hpp"

namespace liqo::core {
namespace {

/// The mask for byte `i` of an address under a prefix.
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

bool IpAddress::is_special() const {
  static const std::vector<Cidr> special = *parse_ranges(
      "0.0.0.0/8,127.0.0.0/8,169.254.0.0/16,224.0.0.0/3,fe80::/10,ff00::/8,"
      // Metadata services of clouds outside link-local ranges: Alibaba, Azure, Amazon, Google, Oracle, Scaleway.
      "100.100.100.200/32,168.63.129.16/32,fd00:ec2::254/128,fd20:ce::254/128,192.0.0.192/32,fd00:c1::a9fe:a9fe/128,"
      "fd00:42::42/128,"
      // IPv4 within IPv6: compatible (which has :: and ::1), mapped, NAT64 (RFC 6052, RFC 8215), 6to4.
      "::/96,::ffff:0.0.0.0/96,64:ff9b::/96,64:ff9b:1::/48,2002::/16");
  return std::ranges::any_of(special, [this](const Cidr& range) { return range.contains(*this); });
}

std::optional<Cidr> Cidr::parse(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto base = IpAddress::parse(text.substr(0, slash));
  if (!base) return std::nullopt;
  const std::string_view digits = text.substr(slash + 1);
  const auto prefix = kube::read_number<int>(digits);
  if (!prefix || digits.size() > 3 || *prefix < 0 || *prefix > int(base->size()) * 8) return std::nullopt;
  return masked(*base, *prefix);
}

Cidr Cidr::masked(const IpAddress& address, int prefix) {
  Cidr cidr{.base = address, .prefix = prefix};
  for (std::size_t i = 0; i < cidr.base.size(); ++i) cidr.base.bytes[i] &= mask_at(prefix, i);
  return cidr;
}

bool Cidr::contains(const IpAddress& address) const {
  if (address.v6 != base.v6) return false;
  for (std::size_t i = 0; i < base.size(); ++i)
    if ((address.bytes[i] & mask_at(prefix, i)) != base.bytes[i]) return false;
  return true;
}

kube::Result<std::vector<Cidr>> parse_ranges(std::string_view text) {
  std::vector<Cidr> ranges;
  for (std::string_view word : kube::split(text, ',')) {
    if (word = kube::trim(word); word.empty()) continue;
    const auto range = Cidr::parse(word);
    if (!range)
      return kube::fail(kube::Errc::invalid_input,
                        kube::in_quotes(word, 64) + " is no range of addresses such as 10.2.0.0/16");
    ranges.push_back(*range);
  }
  return ranges;
}

std::string in_words(std::span<const Cidr> ranges) {
  return kube::join(ranges | std::views::transform(&Cidr::text), ", ");
}

std::vector<Cidr> merge_ranges(std::vector<Cidr> ranges) {
  const auto key = [](const Cidr& range) { return std::tie(range.base.v6, range.base.bytes, range.prefix); };
  std::ranges::sort(ranges, [&](const Cidr& a, const Cidr& b) { return key(a) < key(b); });
  std::vector<Cidr> merged;
  for (const Cidr& range : ranges) {
    if (!merged.empty() && merged.back().contains(range.base)) continue;
    merged.push_back(range);
    // Two halves make a whole, which may in turn be half of a larger range.
    while (merged.size() > 1 && merged.back().prefix > 0) {
      const Cidr& last = merged.back();
      const Cidr& before = merged[merged.size() - 2];
      Cidr whole{.base = before.base, .prefix = last.prefix - 1};
      if (before.prefix != last.prefix || before.base.v6 != last.base.v6 || !whole.contains(last.base) ||
          Cidr::masked(whole.base, whole.prefix) != whole)
        break;
      merged.pop_back();
      merged.back() = whole;
    }
  }
  return merged;
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
    if (!from)
      return kube::fail(kube::Errc::invalid_input, kube::in_quotes(original[i], 64) + " is no range of addresses");
    if (!to)
      return kube::fail(kube::Errc::invalid_input, kube::in_quotes(remapped[i], 64) + " is no range of addresses");
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
  const auto found = find(*parsed);
  return found ? found->text() : std::string(address);
}

std::optional<IpAddress> IpMapping::original_of(const IpAddress& reached) const {
  for (const Pair& pair : pairs_) {
    if (!pair.remapped.contains(reached)) continue;
    const IpAddress original = move_into(reached, pair.original);
    // An earlier pair may map the original elsewhere.
    if (find(original) == reached) return original;
  }
  return std::nullopt;
}

bool IpMapping::reaches(const IpAddress& address) const {
  return std::ranges::any_of(pairs_, [&address](const Pair& pair) { return pair.remapped.contains(address); });
}

std::optional<IpAddress> IpMapping::find(const IpAddress& address) const {
  for (const Pair& pair : pairs_)
    if (pair.original.contains(address)) return move_into(address, pair.remapped);
  return std::nullopt;
}

}  // namespace liqo::core
