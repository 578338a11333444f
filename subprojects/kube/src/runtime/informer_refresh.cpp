// Brings an informer to the present beside a watch that may be late.
#include <boost/asio/use_awaitable.hpp>

#include "kube/client/list_all.hpp"
#include "kube/runtime/informer.hpp"

namespace kube {
namespace {

/// More objects than this are read by a list of all.
constexpr std::size_t max_single_reads = 32;

}  // namespace

asio::awaitable<Result<void>> Informer::refresh() {
  // The watch goes on while the list is read. It may know of newer versions by its end, or have begun to list again.
  const std::uint64_t lists = begun_lists_, known = newest_;
  const auto is_listing = [this, lists] { return listed_ || resource_version_.empty() || lists != begun_lists_; };
  if (is_listing()) co_return fail(Errc::closed, "a list is under way");
  std::map<ObjectKey, std::uint64_t> live;
  KUBE_CO_TRY(listed,
              co_await list_all(api_, {scope_.resource, scope_.ns},
                                {.selection = scope_.selection, .metadata_only = true}, [&live](const Object& object) {
                                  live[object.key()] = object.version_number();
                                  return true;
                                }));
  if (is_listing()) co_return fail(Errc::closed, "a list was begun meanwhile");
  const std::uint64_t version = version_number(listed);
  if (version < known) co_return report_rewind(version, known, true);
  newest_ = std::max(newest_, version);
  std::set<ObjectKey> other;
  for (const auto& [key, is_of] : live)
    if (store_.version(key) < is_of) other.insert(key);
  KUBE_CO_TRY(read, co_await read_each(std::move(other)));
  if (is_listing()) co_return fail(Errc::closed, "a list was begun meanwhile");
  // From here on nothing suspends: the store goes from one state of the server to the other.
  refreshed_ = std::max(refreshed_, version);
  for (auto& [key, object] : read)
    if (object)
      observe(std::move(*object));
    else
      live.erase(key);
  for (const ObjectKey& key : store_.keys()) {
    if (!live.contains(key) && drop(key, version)) gone_unseen_.insert(key);
  }
  co_return Result<void>();
}

asio::awaitable<Result<Informer::Read>> Informer::read_each(std::set<ObjectKey> keys) {
  Read read;
  if (keys.size() > max_single_reads) {
    KUBE_CO_TRYV(
        co_await list_all(api_, {scope_.resource, scope_.ns}, {.selection = scope_.selection}, [&](Object object) {
          const ObjectKey key = object.key();
          if (keys.erase(key) > 0) read.emplace(key, std::move(object));
          return true;
        }));
  }
  for (const ObjectKey& key : keys) {
    auto object = co_await api_.get(scope_.resource, key);
    if (object)
      read.emplace(key, std::move(*object));
    else if (object.error().is_not_found())
      read.emplace(key, std::nullopt);
    else if (object.error().code() == Errc::parse)
      skip("skipped an object that cannot be read", {"error", object.error()});
    else
      co_return std::unexpected(std::move(object.error()));
  }
  co_return read;
}

}  // namespace kube
