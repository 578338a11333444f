#include "controllers/reflection/twin_objects.hpp"

#include <algorithm>
#include <cstdint>

#include "kube/client/find_live.hpp"
#include "kube/client/list_all.hpp"

namespace liqo::controllers {
namespace {

/// The bound of a list of unknown copies, whatever the provider lists: their number, and the lengths of names and UIDs
/// in Kubernetes.
constexpr std::size_t max_unknown = 1000, max_name = 253, max_uid = 64;

}  // namespace

TwinObjects::TwinObjects(std::string ns, NamespaceContext& context)
    : ns_(std::move(ns)),
      context_(context),
      copies_(context.stores, context.kind.copies(), ns_),
      texts_(context.held, context.provider.account()) {}

FoundCopy TwinObjects::identify(const std::string& name, std::string_view uid) const {
  const Copy* copy = copies_.find(name);
  if (!copy || copy->uid != uid) return {};
  if (!copy->settled_for) return {.name = {}, .is_known = false};
  return {.name = copy->is_ours ? context_.kind.local_name(name, context_.forging) : std::string()};
}

bool TwinObjects::has_constant_copies_alone() const {
  return std::ranges::all_of(copies_.names(), [&](const std::string& name) {
    const core::reflection::ReflectedKind& kind = context_.kind;
    return kind.is_always_reflected && kind.is_always_reflected(kind.local_name(name, context_.forging));
  });
}

asio::awaitable<kube::Result<void>> TwinObjects::read(ReferredObjects& referred) {
  copies_.clear();
  referred.forget_kept();
  const auto keep = [&](const kube::Object& object) {
    std::string local = context_.kind.local_name(object.name(), context_.forging);
    if (local.empty()) return true;
    copies_.find_there(object);
    texts_.put(std::string(object.name()), object.text());
    // References of pods may not be known yet, so no copy is removed before the grace is over.
    if (context_.kind.referred_only) referred.keep(std::move(local));
    return !context_.stores.is_exceeded();
  };
  KUBE_CO_TRYV(co_await kube::list_all(context_.provider, {context_.kind.copies(), ns_}, {}, keep),
               "reading the copies in " + ns_);
  // The session that owns the Reflector is notified of it, and ends.
  if (context_.stores.is_exceeded())
    co_return kube::fail(kube::Errc::too_large, "the provider has more than the store budget allows");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::optional<std::vector<std::string>>>> TwinObjects::compare(bool is_late) {
  const std::uint64_t newest = copies_.newest();
  // A list from the server's cache will do if it is not older than the known copies. A look for late creations skips
  // it, because the cache may be from before them.
  for (const char* version : {"0", ""}) {
    if (is_late && *version) continue;
    std::vector<Copies::Seen> seen;
    std::size_t unknown = 0;
    auto read = co_await kube::list_all(
        context_.provider, {context_.kind.copies(), ns_}, {.resource_version = version, .metadata_only = true},
        [&](const kube::Object& object) {
          if (context_.kind.local_name(object.name(), context_.forging).empty()) return true;
          std::string name(object.name());
          if (name.size() > max_name) return true;
          if (!copies_.find(name) && ++unknown > max_unknown) return false;
          seen.push_back({std::move(name), std::string(object.uid().substr(0, max_uid)), object.version_number()});
          return true;
        });
    // Reading everything again counts its objects in the provider's budget.
    if (unknown > max_unknown) co_return std::nullopt;
    if (!read) co_return kube::fail(std::move(read.error()), "comparing the copies in " + ns_);
    const std::uint64_t list_version = kube::version_number(*read);
    if (list_version < newest) continue;
    std::vector<std::string> due = copies_.compare(seen, list_version);
    for (const std::string& name : due) texts_.erase(name);
    co_return due;
  }
  // Even the consistent list is older than what this server has answered before, so its database was restored. Nothing
  // is written to the twin until it has been read again.
  co_return std::nullopt;
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> TwinObjects::read_object(std::string name) {
  if (const std::string text = texts_.take(name); !text.empty())
    if (auto object = kube::Object::parse(text, context_.provider.account()))
      co_return std::optional(std::move(*object));
  KUBE_CO_TRY(live, co_await kube::find_live(context_.provider, context_.kind.copies(), {ns_, name}), "reading a copy");
  if (!live) copies_.erase(name);
  co_return std::move(live);
}

void TwinObjects::clear() {
  copies_.clear();
  texts_.clear();
}

}  // namespace liqo::controllers
