// What a Reflector reads: both sides of a namespace, the state of its copies, and single objects.
#include <algorithm>

#include "controllers/reflection/reflector_parts.hpp"
#include "kube/client/list_all.hpp"

namespace liqo::reflector {
namespace {

/// What is held of a list of copies that are not known, whatever the provider lists: so many, with names and UIDs as
/// long as Kubernetes makes them.
constexpr std::size_t max_unknown = 1000, max_name = 253, max_uid = 64;

}  // namespace

asio::awaitable<std::optional<kube::async::Slots::Slot>> Reflector::take_home_slot() const {
  std::optional<kube::async::Slots::Slot> slot;
  if (context_.home_lists) slot.emplace(co_await context_.home_lists->take());
  co_return slot;
}

asio::awaitable<kube::Result<void>> Reflector::list_home(Shared ns) {
  const auto slot = co_await take_home_slot();
  if (!is_current(*ns)) co_return kube::Result<void>();
  std::map<std::string, Namespace::Listed> now;
  const std::uint64_t newest = ns->listed_at;
  // The cache of one API server may be behind that of another: objects made since would look as if they had gone.
  for (const char* version : {"0", ""}) {
    now.clear();
    auto read = co_await kube::list_all(
        context_.home.api(), {kind_.resource, ns->local}, {.resource_version = version, .metadata_only = true},
        [&](const kube::Object& object) {
          now[std::string(object.name())] = {object.version_number(), reflection::is_allowed(object)};
          return true;
        });
    if (!read) co_return kube::fail(std::move(read.error()), "looking for what is to be reflected");
    // The consistent list is believed also where its version is older: the database may have been restored.
    ns->listed_at = kube::version_number(*read);
    if (ns->listed_at >= newest) break;
  }
  std::swap(ns->listed, now);
  if (!is_current(*ns)) co_return kube::Result<void>();
  for (const auto& [name, listed] : ns->listed) {
    const auto before = now.find(name);
    if (before == now.end() || before->second.version != listed.version) enqueue(*ns, name);
  }
  for (const auto& [name, listed] : now)
    if (!ns->listed.contains(name)) enqueue(*ns, name);
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<bool>> Reflector::find_unlisted(Shared ns, std::string name) {
  auto live = co_await context_.home.api().get(kind_.resource, {ns->local, name});
  if (!live && live.error().is_not_found()) co_return false;
  if (!live) co_return kube::fail(std::move(live.error()), "looking whether what was reflected has gone");
  const bool is_allowed = reflection::is_allowed(*live);
  if (!is_allowed && !takes_all(*ns)) co_return false;
  ns->listed[name] = {live->version_number(), is_allowed};
  ns->listed_at = std::max(ns->listed_at, live->version_number());
  co_return true;
}

asio::awaitable<kube::Result<void>> Reflector::read_home(Shared ns) {
  if (is_off()) co_return kube::Result<void>();
  // Most namespaces have no objects of most kinds. An object that the cache does not have yet is read when it comes.
  if (home_ && home_->store().keys_in(ns->local).empty()) co_return kube::Result<void>();
  if (kind_.referred_only) {
    if (auto listed = co_await list_home(ns); !listed) co_return listed;
    // One list costs less than a request for each object, but would also bring objects that are not reflected.
    const auto is_wanted = [&](const auto& listed) { return version_at_home(*ns, listed.first).has_value(); };
    if (ns->listed.size() < 2 || !std::ranges::all_of(ns->listed, is_wanted)) co_return kube::Result<void>();
  }
  const auto slot = co_await take_home_slot();
  if (!is_current(*ns)) co_return kube::Result<void>();
  auto read =
      co_await kube::list_all(context_.home.api(), {kind_.resource, ns->local}, {}, [&](const kube::Object& object) {
        if (kind_.referred_only && !version_at_home(*ns, std::string(object.name()))) return true;
        ns->at_home.put(std::string(object.name()), object.text());
        // What is not kept here is read when it is needed.
        return held_ < Contents::max_bytes / 2;
      });
  if (!read) co_return kube::fail(std::move(read.error()), "reading what is to be reflected");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> Reflector::read_copies(Shared ns) {
  ns->copies.clear();
  ns->found.clear();
  auto read =
      co_await kube::list_all(context_.provider, {kind_.copies(), ns->remote}, {}, [&](const kube::Object& object) {
        std::string local = kind_.local_name(object.name(), forging_);
        if (local.empty()) return true;
        ns->copies.find_there(object);
        ns->there.put(std::string(object.name()), object.text());
        // References of pods may not be known yet, so no copy is removed before the grace is over.
        if (kind_.referred_only) ns->found[std::move(local)] = context_.clock.now() + reference_grace;
        return !context_.stores.is_exceeded();
      });
  if (!read) co_return kube::fail(std::move(read.error()), "reading the copies in " + ns->remote);
  // The session that owns this Reflector has been told, and ends.
  if (context_.stores.is_exceeded())
    co_return kube::fail(kube::Errc::too_large, "the provider has more than the store budget allows");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> Reflector::check_copies(Shared ns) {
  const std::uint64_t newest = ns->copies.newest();
  // A list from the server's cache will do where it is not older than the known copies. A look for late creations skips
  // it, because the cache may be from before them.
  const bool is_late = ns->late_at && *ns->late_at <= context_.clock.now();
  for (const char* version : {"0", ""}) {
    if (is_late && *version) continue;
    std::vector<Copies::Seen> seen;
    std::size_t unknown = 0;
    auto read = co_await kube::list_all(
        context_.provider, {kind_.copies(), ns->remote}, {.resource_version = version, .metadata_only = true},
        [&](const kube::Object& object) {
          if (kind_.local_name(object.name(), forging_).empty()) return true;
          std::string name(object.name());
          if (name.size() > max_name) return true;
          if (!ns->copies.find(name) && ++unknown > max_unknown) return false;
          seen.push_back({std::move(name), std::string(object.uid().substr(0, max_uid)), object.version_number()});
          return true;
        });
    if (unknown > max_unknown) {
      // Reading all of it anew counts what it holds in the provider's budget.
      ns->was_read = false;
      co_return kube::Result<void>();
    }
    if (!read) co_return kube::fail(std::move(read.error()), "comparing the copies in " + ns->remote);
    const std::uint64_t list_version = kube::version_number(*read);
    if (list_version < newest) continue;
    for (const std::string& name : ns->copies.compare(seen, list_version)) {
      ns->there.erase(name);
      enqueue_copy(*ns, name);
    }
    co_return kube::Result<void>();
  }
  // Even the consistent list is older than what this server has answered before, so its database was restored. Nothing
  // is written to the twin until it has been read again.
  ns->was_read = false;
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> Reflector::read_source(Shared ns, std::string name) {
  const kube::ObjectKey key{ns->local, std::move(name)};
  if (const std::string text = ns->at_home.take(key.name); !text.empty()) {
    auto object = kube::Object::parse(text);
    if (object && object->version_number() >= version_at_home(*ns, key.name).value_or(0)) {
      // Elements of a list have no apiVersion and kind, and Events need both.
      object->set_kind(kind_.resource);
      co_return std::optional(std::move(*object));
    }
  }
  auto live = co_await context_.home.api().get(kind_.resource, key);
  if (live) co_return std::optional(std::move(*live));
  if (live.error().is_not_found()) co_return std::nullopt;
  co_return kube::fail(std::move(live.error()), "reading what is to be reflected");
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> Reflector::read_copy(Shared ns, std::string name) {
  if (const std::string text = ns->there.take(name); !text.empty())
    if (auto object = kube::Object::parse(text, context_.provider.account()))
      co_return std::optional(std::move(*object));
  auto live = co_await context_.provider.get(kind_.copies(), {ns->remote, name});
  if (live) co_return std::optional(std::move(*live));
  if (!live.error().is_not_found()) co_return kube::fail(std::move(live.error()), "reading a copy");
  ns->copies.erase(name);
  co_return std::nullopt;
}

}  // namespace liqo::reflector
