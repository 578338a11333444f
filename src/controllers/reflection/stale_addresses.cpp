#include "controllers/reflection/stale_addresses.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "controllers/reflection/header.hpp"
#include "core/reflection/remote_addresses.hpp"
#include "kube/base/text.hpp"
#include "kube/client/find_live.hpp"
#include "kube/client/list_all.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;
using core::reflection::RemoteAddresses;
using kube::Outcome;

constexpr std::string_view by_provider = "remote-addresses";
/// The pause after another write of the object came in between, and the one after a refusal.
constexpr kube::Duration conflict_pause = 200ms, refused_pause = 1h;

std::string_view shown_by(const kube::Object& object) { return object.annotation(api::annotations::remote_addresses); }

void index_by_provider(const kube::Object& header, std::vector<std::string>& out) {
  if (!header.has_annotation(api::annotations::remote_addresses)) return;
  for (const std::string_view cluster : kube::split(shown_by(header), ' ')) out.emplace_back(cluster);
}

/// A merge patch of one version of an object; "" removes the annotation.
std::string patch_of(const kube::Object& object, const std::string& text) {
  json::object annotations;
  annotations[api::annotations::remote_addresses] = text.empty() ? json::value(nullptr) : json::value(text);
  return json::serialize(json::object{{"metadata", json::object{{"uid", object.uid()},
                                                                {"resourceVersion", object.resource_version()},
                                                                {"annotations", std::move(annotations)}}}});
}

asio::awaitable<kube::Result<kube::Object>> write(kube::Api& home, kube::Resource resource, kube::ObjectKey key,
                                                  std::string patch) {
  co_return co_await home.patch(resource, key, {kube::PatchType::merge, std::move(patch)},
                                {.field_manager = api::reflection_manager});
}

}  // namespace

asio::awaitable<kube::Result<void>> clear_remote_addresses(kube::Api& home, std::string ns) {
  for (const kube::Resource& resource : {kube::resources::services, api::kinds::ingresses}) {
    std::vector<kube::Object> marked;
    auto read = co_await kube::list_all(home, {resource, ns}, {.metadata_only = true}, [&](kube::Object object) {
      if (object.has_annotation(api::annotations::remote_addresses)) {
        object.set_annotation(api::annotations::remote_addresses, "");
        marked.push_back(std::move(object));
      }
      return true;
    });
    if (!read && !read.error().is_permanent())
      co_return kube::fail(std::move(read.error()), "looking for addresses of copies");
    for (const kube::Object& object : marked) {
      const auto written = co_await write(home, resource, object.key(), patch_of(object, ""));
      if (!written && !written.error().is_permanent())
        co_return kube::fail(written.error(), "removing the addresses of copies");
    }
  }
  co_return kube::Result<void>();
}

StaleAddresses::StaleAddresses(Context context)
    : context_(context),
      offloadings_(context.home.acquire({.resource = api::kinds::namespace_offloadings})),
      maps_(context.home.acquire({.resource = api::kinds::namespace_maps})),
      watched_{Watched{kube::resources::services, {}}, Watched{api::kinds::ingresses, {}}},
      wishes_(
          maps_,
          [](const kube::Object& map) {
            Wish wish;
            if (map.label(api::labels::replication) != "true") return wish;
            wish.cluster = map.label(api::labels::replication_destination);
            for (const auto& [local, remote] : kube::object_at(map.spec(), {"desiredMapping"}))
              wish.spaces.emplace(local);
            return wish;
          },
          [this](const kube::ObjectKey&, const Wish* before, const Wish* now) {
            // What is asked for newly makes no address stale.
            if (before) enqueue_showing(before->cluster);
            if (now && before && now->cluster != before->cluster) enqueue_showing(now->cluster);
          }),
      controller_(context, {.name = "remote-addresses", .limits = {.workers = 4, .workers_per_group = 2}},
                  [this](kube::WorkKey work) { return reconcile(std::move(work)); }) {
  controller_.reads(maps_);
  controller_.watch(
      offloadings_,
      [this](const kube::Change& offloading) {
        start();
        if (!offloading.previous()) enqueue_in(offloading.key.ns);
      },
      [this] {
        if (offloadings_->store().size() > 0) start();
      });
}

void StaleAddresses::start() {
  for (Watched& kind : watched_) {
    if (kind.headers) continue;
    kind.headers = context_.home.acquire(headers_of(kind.resource));
    kind.headers->add_index(std::string(by_provider), index_by_provider);
    kind.headers.follow([this, group = std::string(kind.resource.plural)](const kube::Change& object) {
      if (object.now && object.now->has_annotation(api::annotations::remote_addresses))
        controller_.enqueue({group, object.key});
    });
  }
}

void StaleAddresses::enqueue_showing(const std::string& cluster) {
  for (const Watched& kind : watched_)
    if (kind.headers)
      for (const kube::ObjectKey& key : kind.headers->store().keys(by_provider, cluster))
        controller_.enqueue({std::string(kind.resource.plural), key});
}

void StaleAddresses::enqueue_in(const std::string& ns) {
  for (const Watched& kind : watched_)
    for (const kube::ObjectKey& key : kind.headers->store().keys_in(ns))
      controller_.enqueue({std::string(kind.resource.plural), key});
}

bool StaleAddresses::is_offloaded(const std::string& ns) const {
  return offloadings_->store().contains({ns, std::string(api::namespace_offloading_name)});
}

bool StaleAddresses::is_asked(std::string_view cluster, const std::string& ns) const {
  return std::ranges::any_of(wishes_.all(), [&](const auto& wish) {
    return wish.second.cluster == cluster && wish.second.spaces.contains(ns);
  });
}

asio::awaitable<Outcome> StaleAddresses::reconcile(kube::WorkKey work) {
  const std::string ns = work.object.ns;
  const auto kind = std::ranges::find(watched_, work.group, [](const Watched& each) { return each.resource.plural; });
  // Elsewhere this process may not write the object.
  if (kind == watched_.end() || !kind->headers || !is_offloaded(ns)) co_return Outcome::done();
  const auto header = kind->headers->find(work.object);
  if (!header || !header->has_annotation(api::annotations::remote_addresses)) co_return Outcome::done();
  const std::vector<std::string_view> clusters = kube::split(shown_by(*header), ' ');
  if (std::ranges::all_of(clusters, [&](std::string_view cluster) { return is_asked(cluster, ns); }))
    co_return Outcome::done();

  const kube::Resource resource = kind->resource;
  KUBE_CO_TRY(live, co_await kube::find_live(context_.home.api(), resource, work.object),
              "reading an object with the addresses of copies");
  if (!live || !live->has_annotation(api::annotations::remote_addresses)) co_return Outcome::done();
  RemoteAddresses left = RemoteAddresses::read(shown_by(*live));
  const auto entries = left.entries();
  for (const auto& [cluster, addresses] : entries)
    if (!is_asked(cluster, ns)) left.set(cluster, {});
  if (!left.entries().empty() && left.entries().size() == entries.size()) co_return Outcome::done();
  auto written = co_await write(context_.home.api(), resource, work.object, patch_of(*live, left.text()));
  if (written || written.error().is_not_found()) co_return Outcome::done();
  if (written.error().is_conflict()) co_return Outcome::again_after(conflict_pause);
  if (!written.error().is_permanent())
    co_return Outcome::retry(std::move(written.error()).in("removing the addresses of copies"));
  log_.warn("the addresses of a copy that is gone stay at an object",
            {{"object", work.object.text()}, {"error", written.error()}});
  co_return Outcome::again_after(refused_pause);
}

}  // namespace liqo::controllers
