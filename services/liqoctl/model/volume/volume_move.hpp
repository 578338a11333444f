// The objects of `liqoctl move volume`, as pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// Where the files of the volume are in the pods that carry them.
inline constexpr std::string_view volume_directory = "/volume";

/// A name that no other claim's move has, for what there is only while it lasts.
std::string move_name(std::string_view claim);
/// What of a claim is to stay when it is made anew: its labels, annotations, owners and spec, without what Kubernetes
/// and liqod have noted on it.
kube::Object claim_to_keep(const kube::Object& claim);
/// The claim that gets the data at the target, until the other one takes its volume.
kube::Object forge_temporary_claim(const kube::Object& claim, std::string_view node);
/// `kept` once more, as the owner of `volume`; its pods run where `node` is.
kube::Object forge_claim_of_volume(const kube::Object& kept, std::string_view node, std::string_view volume);

/// The pods that use the claim, but for those of these names, which carry its data, and those that have finished.
std::vector<std::string> users_of(const std::vector<kube::Object>& pods, std::string_view claim,
                                  std::span<const std::string> carriers = {});

/// What a pod that carries the data does with its volume.
enum class Carrier { reads, writes };

struct CarrierRequest {
  kube::ObjectKey key;
  std::string claim, node, image;  ///< no node: the scheduler chooses
  Carrier carrier = Carrier::reads;
  std::int64_t seconds = 0;  ///< it ends by itself by then
};
/// A pod that has the volume and does nothing by itself.
kube::Object forge_carrier(const CarrierRequest& request);

/// Why a pod has ended, whose program does so only when it is told to: what kubelet, scheduler or container say. "" =
/// it has not.
std::string why_ended(const kube::Object& pod);
/// The message of the newest Event, fit to be shown; "" where there is none.
std::string newest_of_all(const std::vector<kube::Object>& events);

/// How far a move has come, for the one that goes on with it; kept on the volume at the target.
struct MoveRecord {
  kube::Object claim;       ///< claim_to_keep
  std::string uid;          ///< of the claim
  std::string node;         ///< the target
  std::string source;       ///< the volume that has the data until then
  std::string policy;       ///< what becomes of the volume when the claim is deleted
  std::string former_node;  ///< of the claim
  bool verified = false;    ///< nothing but the switch is to be done
};
std::string write_record(const MoveRecord& record);
/// Nothing where the volume has none.
std::optional<MoveRecord> read_record(const kube::Object& volume);

}  // namespace liqoctl::model
