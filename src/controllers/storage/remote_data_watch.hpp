// Finds the volumes that have their data in other clusters, and where that is.
// Tested by test/unit/controllers/namespaces/held_twins_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/common/context.hpp"
#include "core/storage/remote_data.hpp"

namespace liqo::controllers {

/// Reads PersistentVolumes and claims if such volumes are made (StorageSettings::storage_class). Otherwise it reads
/// nothing, because it has no right to. One thread.
class RemoteDataWatch {
 public:
  /// `changed` is called for each change with the data as it was before, and as it is now. Must not suspend.
  using Changed = std::function<void(const core::storage::RemoteData& data)>;

  RemoteDataWatch(Context context, Changed changed, const std::function<void()>& synced);
  RemoteDataWatch(const RemoteDataWatch&) = delete;
  RemoteDataWatch& operator=(const RemoteDataWatch&) = delete;

  bool has_synced() const;
  /// The data of each claim once, in a stable order. It is valid until the next change: copy it to keep it over an
  /// await.
  const std::vector<core::storage::RemoteData>& all() const;
  /// Whether a claim or a volume at home stands for that claim of ours in the twin of namespace `ns`, so that home
  /// decides about its data. False if claims and volumes are not read.
  bool accounts_for(const kube::Object& backing, std::string_view cluster, const std::string& ns) const;
  /// Sends a Warning where people look: on the PersistentVolume, or on the claim if there is none.
  void warn(const core::storage::RemoteData& data, std::string_view reason, std::string message) const;

 private:
  using Known = std::map<kube::ObjectKey, core::storage::RemoteData>;
  void take(Known& known, const kube::ObjectKey& key, std::optional<core::storage::RemoteData> now);

  Context context_;
  Changed changed_;
  kube::InformerHandle volumes_, claims_;
  Known of_volumes_, of_claims_;
  mutable std::optional<std::vector<core::storage::RemoteData>> all_;  ///< nothing after a change
};

}  // namespace liqo::controllers
