// IP addresses and ranges, and their mapping between clusters whose pod ranges overlap.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/failure.hpp"

namespace liqo::core {

/// An IPv4 or IPv6 address.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  ///< IPv4 uses the first four
  bool v6 = false;

  /// Reads an address; nullopt if the text is none. A text with a zone or a prefix length is none.
  static std::optional<IpAddress> parse(std::string_view text);
  std::string text() const;
  std::size_t size() const { return v6 ? 16 : 4; }
  /// Whether the address can belong to no pod of another cluster: it is unspecified, loopback, link-local, multicast or
  /// reserved, one at which clouds hand out credentials, or an IPv6 address that embeds an IPv4 address.
  bool is_special() const;
  bool operator==(const IpAddress&) const = default;
};

/// A range of addresses, e.g. "10.0.0.0/16".
struct Cidr {
  IpAddress base;
  int prefix = 0;

  /// Reads a range; nullopt if the text is none. Host bits are cleared.
  static std::optional<Cidr> parse(std::string_view text);
  /// The range of that size that holds the address.
  static Cidr masked(const IpAddress& address, int prefix);
  std::string text() const { return base.text() + "/" + std::to_string(prefix); }
  bool contains(const IpAddress& address) const;
  /// Whether both ranges have an address in common.
  bool overlaps(const Cidr& other) const { return contains(other.base) || other.contains(base); }
  bool operator==(const Cidr&) const = default;
};

/// The ranges in a text such as "10.2.0.0/16, fd00:2::/64"; blanks do not matter, and an empty text has no ranges.
/// Errors: Errc::invalid_input, which names the first word that is no range.
kube::Result<std::vector<Cidr>> parse_ranges(std::string_view text);

/// "10.2.0.0/16, fd00:2::/64".
std::string in_words(std::span<const Cidr> ranges);

/// The fewest ranges that hold exactly the same addresses, in order: two halves become one range, and a range within
/// another one is dropped.
std::vector<Cidr> merge_ranges(std::vector<Cidr> ranges);

/// The address with the network bits of `target` and its own host bits: 192.168.1.50 into 10.0.0.0/27 is 10.0.0.18.
/// An address of the other family is returned unchanged.
IpAddress move_into(const IpAddress& address, const Cidr& target);

/// An ordered table of pairs of ranges: one as the cluster that owns it knows it, one as the other cluster reaches it.
class IpMapping {
 public:
  /// `original[i]` becomes `remapped[i]`. Errors: Errc::invalid_input for lists or prefixes of unequal length, mixed
  /// families, or text that is no range.
  kube::Result<void> add(std::span<const std::string> original, std::span<const std::string> remapped);
  bool empty() const { return pairs_.empty(); }
  /// The address as the other cluster reaches it; unchanged if no range holds it. nullopt if the text is no address.
  std::optional<std::string> remap(std::string_view address) const;
  /// The address as the other cluster reaches it; nullopt if no range holds it.
  std::optional<IpAddress> find(const IpAddress& address) const;
  /// The address that find() maps to this one; nullopt if there is none.
  std::optional<IpAddress> original_of(const IpAddress& reached) const;
  /// Whether find() can return that address.
  bool reaches(const IpAddress& address) const;
  bool operator==(const IpMapping&) const = default;

 private:
  struct Pair {
    Cidr original, remapped;
    bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> pairs_;
};

}  // namespace liqo::core
