// What a cluster has refused one of its consumers, the newest of it, as a ConfigMap of the tenant namespace keeps it.
// Pure.
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

  /// Makes its texts as short and printable as an entry has them: what waits for a ring is cut first, because a review
  /// may have megabytes.
  static void cut_texts(RefusedObject& refused);
  /// Counts with what is there already for the same object and reason. Reasons are the same up to the first ": ",
  /// because the figures behind it change with each try; the newest sentence is kept. What is added is not dropped for
  /// what is there.
  void add(RefusedObject refused);
  /// Likewise all of another ring, at that time. What is here of a minute later or more was counted by a clock that was
  /// ahead: it counts as older than all that is added.
  void add(const RefusalRing& other, kube::WallTime now);

  bool empty() const { return entries_.empty(); }
  /// The newest first; of the same time in the order of their names.
  std::vector<RefusedObject> newest_first() const;

  /// The ring that a ConfigMap holds; entries that cannot be read are left out, and what is too long is none.
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
