#include "model/peer/peering_users.hpp"

#include <algorithm>
#include <map>

#include "liqo/api/names.hpp"
#include "model/selectors.hpp"
#include "text/duration.hpp"
#include "text/shown.hpp"
#include "text/table.hpp"

namespace liqoctl::model {

namespace json = kube::json;

std::vector<PeeringUser> peering_users(const std::vector<kube::Object>& bindings,
                                       const std::vector<kube::Object>& tenants) {
  struct Found {
    PeeringUser user;
    bool reads = false, writes = false;
  };
  std::map<std::string, Found> found;
  for (const kube::Object& binding : bindings) {
    const std::string_view name = binding.label(peering_user_label);
    if (!name.starts_with(liqo::api::peering_user_prefix) || binding.is_deleting()) continue;
    Found& one = found[std::string(name)];
    one.user.consumer = name.substr(liqo::api::peering_user_prefix.size());
    if (const std::string_view created = binding.creation_timestamp();
        one.user.created.empty() || created < one.user.created)
      one.user.created = created;
    if (binding.name() == std::string(name) + std::string(reader_suffix)) one.reads = true;
    if (binding.name() != std::string(name) + std::string(writer_suffix)) continue;
    one.writes = true;
    one.user.ns = binding.ns();
  }
  std::vector<PeeringUser> users;
  for (auto& [name, one] : found) {
    one.user.is_whole = one.reads && one.writes;
    one.user.is_peered = std::ranges::any_of(tenants, [&one](const kube::Object& tenant) {
      return kube::string_at(tenant.spec(), {"clusterID"}) == one.user.consumer && !tenant.is_deleting();
    });
    users.push_back(std::move(one.user));
  }
  return users;
}

std::string listing(const std::vector<PeeringUser>& users, kube::WallTime now) {
  std::vector<text::Row> rows;
  rows.reserve(users.size());
  for (const PeeringUser& user : users)
    rows.push_back({text::shown(user.consumer), text::shown(user.ns), user.is_peered ? "yes" : "no",
                    user.is_whole ? "" : "half made: liqoctl delete peering-user", text::age_of(user.created, now)});
  return text::table({"CONSUMER", "NAMESPACE", "PEERED", "NOTE", "AGE"}, rows);
}

json::array documents(const std::vector<PeeringUser>& users) {
  json::array out;
  for (const PeeringUser& user : users)
    out.push_back(json::object{{"consumer", user.consumer},
                               {"namespace", user.ns},
                               {"created", user.created},
                               {"complete", user.is_whole},
                               {"peered", user.is_peered}});
  return out;
}

}  // namespace liqoctl::model
