// Twins that home's NamespaceMap does not want, or not any more, and its replica still asks for. A twin goes with all
// that is in it, so that one that holds data has to stay. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/namespaces/desired_mapping.hpp"
#include "core/peering/replication.hpp"
#include "kube/base/failure.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// An entry of a replica that home does not want, or not under that name.
struct WithdrawnTwin {
  std::string local, remote;
  /// Home's map has asked for it and does not any more. False after a restore of home's database, which lacks what is
  /// newer than its snapshot: nobody has meant to withdraw the twin then.
  bool is_known = false;
  bool is_given_up = false;  ///< an administrator gives up what is in it
  bool operator==(const WithdrawnTwin&) const = default;
};
/// What the replica would withdraw if it followed the map at home, in the order of the names; `local` null = home has
/// no map. Left out are twins that are being deleted already. `asked`: what the map asked for before.
std::vector<WithdrawnTwin> withdrawn_twins(const kube::Object* local, const kube::Object& replica,
                                           const WantedTwins& asked, const ReplicationPeer& peer);

/// Remembers what home's map has asked for, as long as its history goes on: a map whose generation is lower than before
/// comes from a backup. Losing it (restart) does no harm: twins are then kept until their claims can be looked at. One
/// thread.
class AskedTwins {
 public:
  /// Takes in the map as each event of the cache shows it; null = it is gone.
  void see(const kube::Object* map);
  /// Forgets what neither the map (null = it is gone) nor its replica has.
  void prune(const kube::Object* map, const kube::Object& replica);
  const WantedTwins& all() const { return twins_; }

 private:
  std::string uid_;
  std::int64_t generation_ = 0;
  WantedTwins twins_;
};

/// The claims in a twin, by name, that no claim or volume of home accounts for.
using StrayClaims = std::vector<std::string>;
/// Why the twin has to stay, "" = it may go. `strays`: what a live look has found; a failure if nobody may look, which
/// keeps only the twins that home does not know.
std::string why_kept(const WithdrawnTwin& twin, std::string_view cluster, const kube::Result<StrayClaims>& strays);

/// The names in an annotation of the map, separated by commas: `annotations::holds_data`, `annotations::gives_up`.
std::vector<std::string> twins_in(const kube::Object& map, std::string_view annotation);
/// The value of `annotations::holds_data`: the kept twins, as far as an annotation has room. A twin that nobody has
/// looked at yet is named if the map has named it before; null = there is no map.
std::string held_names(std::span<const KeptTwin> kept, const kube::Object* map);
/// The merge patch that makes the annotations of home's map what they are to be; nothing if they are right.
/// `holds_data` is as held_names() has it; a twin that is no longer kept, or is wanted again, is removed from
/// `gives_up`.
std::optional<kube::json::object> plan_kept_marks(const kube::Object& map, std::span<const KeptTwin> kept,
                                                  std::span<const WithdrawnTwin> withdrawn);

}  // namespace liqo::core
