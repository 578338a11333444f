#include "controllers/storage/remote_data_watch.hpp"

#include "core/storage/volume.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/names.hpp"

namespace liqo::controllers {

namespace storage = core::storage;

namespace {

constexpr std::string_view by_backing = "backing";

/// The claim in that cluster. "" = a volume of the Go version, which names no cluster, and the namespace at home.
std::string backing_text(std::string_view cluster, const kube::ObjectKey& key) {
  return std::string(cluster) + "/" + key.text();
}

void index_by_backing(const kube::Object& volume, std::vector<std::string>& out) {
  if (const auto recorded = storage::recorded_backing(volume)) {
    if (!recorded->cluster.empty()) out.push_back(backing_text(recorded->cluster, recorded->key));
  } else if (volume.annotation(api::annotations::provisioned_by) == api::storage_provisioner) {
    out.push_back(backing_text("", {std::string(kube::string_at(volume.spec(), {"claimRef", "namespace"})),
                                    std::string(kube::string_at(volume.spec(), {"claimRef", "name"}))}));
  }
}

}  // namespace

RemoteDataWatch::RemoteDataWatch(Context context, Changed changed, const std::function<void()>& synced)
    : context_(context), changed_(std::move(changed)) {
  if (context.settings.storage.storage_class.empty()) return;
  volumes_ = context.home.acquire({.resource = api::kinds::volumes});
  claims_ = context.home.acquire({.resource = api::kinds::claims});
  volumes_->add_index(std::string(by_backing), index_by_backing);
  volumes_.subscribe(
      [this](const kube::ObjectKey& key) {
        const auto volume = volumes_->find(key);
        take(of_volumes_, key, volume ? storage::data_of_volume(*volume) : std::nullopt);
      },
      synced);
  claims_.subscribe(
      [this](const kube::ObjectKey& key) {
        const auto claim = claims_->find(key);
        take(of_claims_, key, claim ? storage::data_of_claim(*claim) : std::nullopt);
      },
      synced);
  // The caches may have been complete before; the maker of this object reads all data first.
  for (const kube::Object& volume : volumes_->objects())
    if (auto data = storage::data_of_volume(volume)) of_volumes_.emplace(volume.key(), std::move(*data));
  for (const kube::Object& claim : claims_->objects())
    if (auto data = storage::data_of_claim(claim)) of_claims_.emplace(claim.key(), std::move(*data));
}

bool RemoteDataWatch::has_synced() const {
  return context_.settings.storage.storage_class.empty() || (volumes_->has_synced() && claims_->has_synced());
}

void RemoteDataWatch::take(Known& known, const kube::ObjectKey& key, std::optional<storage::RemoteData> now) {
  const auto found = known.find(key);
  const std::optional<storage::RemoteData> before =
      found == known.end() ? std::nullopt : std::optional(std::move(found->second));
  if (found != known.end()) known.erase(found);
  if (now) known.insert_or_assign(key, *now);
  if (before == now) return;
  all_.reset();
  if (before) changed_(*before);
  if (now) changed_(*now);
}

const std::vector<storage::RemoteData>& RemoteDataWatch::all() const {
  if (all_) return *all_;
  std::vector<storage::RemoteData> volumes, claims;
  for (const auto& [key, data] : of_volumes_) volumes.push_back(data);
  for (const auto& [key, data] : of_claims_) claims.push_back(data);
  return all_.emplace(storage::each_once(std::move(volumes), std::move(claims)));
}

bool RemoteDataWatch::accounts_for(const kube::Object& backing, std::string_view cluster, const std::string& ns) const {
  if (context_.settings.storage.storage_class.empty()) return false;
  const std::string uid(backing.annotation(api::annotations::virtual_claim_uid));
  // The Go version notes no UID on the claims that it makes.
  const kube::ObjectKey same_name{ns, std::string(backing.name())};
  const auto key =
      uid.empty() ? same_name : kube::ObjectKey::parse(backing.annotation(api::annotations::virtual_claim));
  const auto claim = key ? claims_->find(*key) : std::nullopt;
  if (claim && (uid.empty() || claim->uid() == uid)) return true;
  return volumes_->store().count(by_backing, backing_text(cluster, backing.key())) > 0 ||
         volumes_->store().count(by_backing, backing_text("", same_name)) > 0;
}

void RemoteDataWatch::warn(const storage::RemoteData& data, std::string_view reason, std::string message) const {
  if (context_.settings.storage.storage_class.empty()) return;
  if (const auto volume = volumes_->find({"", data.volume}))
    context_.events.warning(*volume, api::kinds::volumes, reason, std::move(message));
  else if (const auto claim = claims_->find(data.claim))
    context_.events.warning(*claim, api::kinds::claims, reason, std::move(message));
}

}  // namespace liqo::controllers
