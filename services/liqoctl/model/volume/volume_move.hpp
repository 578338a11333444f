// The objects of `liqoctl move volume`, as pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// The directory of the volume's files in the pods that carry them.
inline constexpr std::string_view volume_directory = "/volume";

/// A name that no other claim's move has, for objects that exist only during the move.
std::string move_name(std::string_view claim);
/// The part of a claim that stays when it is created again: its labels, annotations, owners and spec, without the notes
/// of Kubernetes and liqod.
kube::Object claim_to_keep(const kube::Object& claim);
/// The claim that holds the data at the target, until the moved claim takes over its volume.
kube::Object forge_temporary_claim(const kube::Object& claim, std::string_view node);
/// `kept` again, as the owner of `volume`; its pods run in the cluster of `node`.
kube::Object forge_claim_of_volume(const kube::Object& kept, std::string_view node, std::string_view volume);

/// The pods that use the claim, except those of these names, which carry its data, and those that have finished.
std::vector<std::string> users_of(const std::vector<kube::Object>& pods, std::string_view claim,
                                  std::span<const std::string> carriers = {});

/// How a pod that carries the data uses its volume.
enum class Carrier { reads, writes };

struct CarrierRequest {
  kube::ObjectKey key;
  std::string claim, node, image;  ///< no node: the scheduler chooses
  Carrier carrier = Carrier::reads;
  std::int64_t seconds = 0;  ///< after this many it ends by itself
};
/// A pod that has the volume and does nothing by itself.
kube::Object forge_carrier(const CarrierRequest& request);

/// Why a pod has ended whose program ends only by a request: the message of kubelet, scheduler or container. "" = it
/// has not ended.
std::string why_ended(const kube::Object& pod);
/// The message of the newest Event, made printable and cut; "" if there is none.
std::string newest_of_all(const std::vector<kube::Object>& events);

/// The progress of a move, for the one that continues it; kept on the volume at the target.
struct MoveRecord {
  kube::Object claim;       ///< claim_to_keep
  std::string uid;          ///< of the claim
  std::string node;         ///< the target
  std::string source;       ///< the volume that has the data until then
  std::string policy;       ///< what becomes of the volume when the claim is deleted
  std::string former_node;  ///< of the claim
  bool verified = false;    ///< only the switch is left to be done
};
std::string write_record(const MoveRecord& record);
/// No value if the volume has no record.
std::optional<MoveRecord> read_record(const kube::Object& volume);

}  // namespace liqoctl::model
