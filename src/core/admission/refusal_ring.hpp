// The newest refusals that a cluster has given to one of its consumers, as a ConfigMap of the tenant namespace keeps
// them. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::admission {

/// The ConfigMap in a tenant namespace, and its only entry. Consumers have no rights on ConfigMaps there.
inline constexpr std::string_view refusals_config_map = "liqo-refusals", refusals_entry = "refusals.json";

/// One object of a consumer that was refused for one reason, however often.
struct RefusedObject {
  std::string kind, ns, name;
  std::string reason;  ///< a sentence
  std::int64_t count = 1;
  kube::WallTime first{}, last{};
};

/// At most `max_entries` of them in at most `max_bytes` of JSON; the one that was refused longest ago goes first. Texts
/// of others are cut and made printable when they are added.
class RefusalRing {
 public:
  static constexpr std::size_t max_entries = 256, max_bytes = 64U << 10, max_reason = 1000;

  /// Makes its texts as short and printable as an entry has them. Refusals that wait for a ring are cut first, because
  /// a review may have megabytes.
  static void cut_texts(RefusedObject& refused);
  /// Adds a refusal, to the count of an entry of the same object and reason if there is one. Reasons are the same up to
  /// the first ": ", because the figures behind it change with each try; the newest sentence is kept. What is added is
  /// not dropped in favour of older entries.
  void add(RefusedObject refused);
  /// Adds all refusals of another ring, at that time. Entries of this ring that are a minute later or more were counted
  /// by a clock that was ahead: they count as older than all that are added.
  void add(const RefusalRing& other, kube::WallTime now);

  bool empty() const { return entries_.empty(); }
  /// The newest first; of the same time in the order of their names.
  std::vector<RefusedObject> newest_first() const;

  /// The ring that a ConfigMap holds; entries that cannot be read are left out, and a text that is too long has none.
  static RefusalRing read(const kube::Object& config_map);
  /// Writes it there.
  void write(kube::Object& config_map) const;

 private:
  struct Seen {
    std::string reason;  ///< the newest sentence
    std::int64_t count = 0;
    kube::WallTime first{}, last{};
    std::size_t bytes = 0;  ///< in the JSON
  };
  using Name = std::tuple<std::string, std::string, std::string, std::string>;  ///< kind, namespace, name, gist
  void drop_oldest_but(const Seen& kept);

  std::map<Name, Seen> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace liqo::core::admission
