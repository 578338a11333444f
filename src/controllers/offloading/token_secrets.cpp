#include "controllers/offloading/token_secrets.hpp"

#include <algorithm>
#include <utility>

#include "controllers/common/under_way.hpp"
#include "core/offloading/token_secrets.hpp"
#include "kube/client/find_live.hpp"
#include "kube/client/list_all.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::controllers {
namespace {

/// Names that are held of one namespace at most.
constexpr std::size_t max_withheld = 10000;
/// After this time a list is forgotten.
constexpr std::chrono::minutes held_for{10};

}  // namespace

asio::awaitable<kube::Result<std::optional<std::string>>> TokenSecrets::why_refused(const kube::Object& local,
                                                                                    std::string remote_namespace) {
  const std::string ns(local.ns());
  const std::set<std::string> needed = core::needed_secrets(local);
  if (needed.empty()) co_return std::string();
  KUBE_CO_TRYV(co_await look(ns, known_for));
  if (is_any_withheld(ns, needed)) {
    KUBE_CO_TRYV(co_await look(ns, refused_for));
  }
  if (!known_.contains(ns)) co_return std::nullopt;
  for (const std::string& name : needed) {
    if (!is_any_withheld(ns, {name})) continue;
    // The twin may have one of its own, or a copy by the Go version.
    KUBE_CO_TRY(there, co_await kube::find_live(provider_, kube::resources::secrets, {remote_namespace, name}),
                "looking for a Secret that is not copied");
    if (!there || there->has_annotation(api::annotations::reflected_digest))
      co_return core::describe_token_secret(name);
  }
  co_return std::string();
}

bool TokenSecrets::is_any_withheld(const std::string& ns, const std::set<std::string>& names) const {
  const auto known = known_.find(ns);
  return known != known_.end() &&
         std::ranges::any_of(names, [&](const std::string& name) { return known->second.withheld.contains(name); });
}

asio::awaitable<kube::Result<void>> TokenSecrets::look(std::string ns, kube::Duration age) {
  const kube::TimePoint now = context_.clock.now();
  std::erase_if(known_, [&](const auto& known) { return now - known.second.at >= held_for; });
  if (const auto known = known_.find(ns); known != known_.end() && now - known->second.at < age)
    co_return kube::Result<void>();
  if (looking_.contains(ns)) co_return kube::Result<void>();
  const UnderWay<std::string> looking(looking_, ns);
  Known found;
  const std::string selector = "type=" + std::string(core::service_account_token_type);
  auto listed = co_await kube::list_all(context_.home.api(), {kube::resources::secrets, ns},
                                        {.selection = {.field_selector = selector}, .metadata_only = true},
                                        [&found](const kube::Object& secret) {
                                          if (!core::may_copy_token(secret)) found.withheld.emplace(secret.name());
                                          return found.withheld.size() < max_withheld;
                                        });
  if (!listed && !listed.error().is_permanent())
    co_return kube::fail(std::move(listed.error()), "looking for Secrets that are not copied");
  found.at = context_.clock.now();
  // The right to look comes with a RoleBinding that may be on its way.
  if (!listed) found.at -= known_for - refused_for;
  known_.insert_or_assign(ns, std::move(found));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
