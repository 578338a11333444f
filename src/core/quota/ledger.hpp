// The record of what was admitted and is not known to be stored yet: one ConfigMap per Quota, shared by all replicas.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/common/resources.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// An admitted ShadowPod on its way into storage, or a stored one that was allowed to grow.
struct Reservation {
  kube::ObjectKey pod;
  Resources demand;       ///< what it takes; of a stored one, by how much it grows
  bool unproven = false;  ///< nothing had shown that an API server asked for it
  /// For a ShadowPod that grows: the resource version that the change starts from; 0 = the ShadowPod is new. The API
  /// server refuses the change of any other version, so that a later version shows what came of it.
  std::uint64_t from = 0;

  bool grows() const { return from != 0; }
};

/// The key of the reservation of a ShadowPod that grows: its UID and a number of this request. A request that is
/// repeated after a refusal, which may have left a reservation, gets another number.
std::string growth_key(std::string_view uid, std::uint64_t number);
/// The UID in such a key, or in that of a new ShadowPod, which is the UID alone.
std::string_view uid_of(std::string_view reservation_key);

/// Which Quota of a name, and which state of what it grants.
struct QuotaVersion {
  std::string uid;  ///< "" = it was withdrawn
  std::int64_t generation = 0;
  bool operator==(const QuotaVersion&) const = default;
};
QuotaVersion version_of_quota(const kube::Object& quota);

/// What the ConfigMap holds. A replica that decides must have seen every ShadowPod up to `floor`: what was dropped from
/// the reservations because it is stored is counted from there (resource versions of one kind are ordered, KEP-5504).
struct LedgerRecord {
  std::uint64_t floor = 0;
  std::map<std::string, Reservation> reservations;  ///< by the ShadowPod's UID, or `growth_key`
  /// Entries that cannot be read, by their UID and as they are written. Nobody knows how much they hold, so that
  /// nothing fits beside them until they expire.
  std::map<std::string, kube::json::value> unreadable;
  /// The Quota that whoever wrote the record had seen: nobody decides by an older one any more. Unset in records of
  /// earlier versions.
  std::optional<QuotaVersion> quota = {};

  /// Whether nothing is reserved.
  bool empty() const { return reservations.empty() && unreadable.empty(); }
  /// Whether a Quota that was read before the record may be older than the one that the record names.
  bool may_be_newer_than(const QuotaVersion& read) const {
    return quota && (quota->uid != read.uid || quota->generation > read.generation);
  }

  /// Reads the ConfigMap; one without data is an empty record. Errors: Errc::parse, for a record that cannot be relied
  /// on as a whole.
  static kube::Result<LedgerRecord> read(const kube::Object& config_map);
  /// The value of the ConfigMap's key `ledger.json`.
  std::string text() const;
};

/// The key of the record in its ConfigMap.
inline constexpr std::string_view ledger_key = "ledger.json";
/// A record of more bytes than this is full: the API server takes objects of up to 1 MiB, etcd 1.5 MiB.
inline constexpr std::size_t max_ledger_bytes = 512 * 1024;
/// One reservation may take this much of it. One with the longest names, and some ten resources with long names, needs
/// a tenth of that.
inline constexpr std::size_t max_reservation_bytes = 8 * 1024;

/// What a reservation takes of the record, in bytes.
std::size_t reservation_bytes(const std::string& uid, const Reservation& reservation);
/// Whether the record can hold the reservation and can be read again with it.
bool is_recordable(const std::string& uid, const Reservation& reservation);

/// The ConfigMap of a Quota: `liqo-quota-` and 16 hex digits of the Quota's namespace and name.
std::string ledger_name(const kube::ObjectKey& quota);
/// A new ConfigMap with that record, in the Liqo namespace, which says in annotations whose it is.
kube::Object forge_ledger(std::string_view liqo_namespace, const kube::ObjectKey& quota, const LedgerRecord& record);

}  // namespace liqo::core
