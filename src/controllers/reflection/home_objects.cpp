#include "controllers/reflection/home_objects.hpp"

#include <algorithm>
#include <utility>

#include "kube/client/find_live.hpp"
#include "kube/client/list_all.hpp"

namespace liqo::controllers {

HomeObjects::HomeObjects(std::string ns, NamespaceContext& context)
    : ns_(std::move(ns)), context_(context), referred_(context), texts_(context.held) {}

std::optional<std::uint64_t> HomeObjects::version_of(const std::string& name) const {
  if (context_.is_off()) return std::nullopt;
  if (context_.watched) {
    const kube::Store& store = context_.watched->store();
    const kube::ObjectKey key{ns_, name};
    return store.contains(key) ? std::optional(store.version(key)) : std::nullopt;
  }
  const auto listed = listed_.find(name);
  const bool is_taken = listed != listed_.end() && (listed->second.allowed || referred_.takes_all());
  if (!is_taken && !referred_.contains(name)) return std::nullopt;
  return listed == listed_.end() ? 0 : listed->second.version;
}

std::vector<std::string> HomeObjects::names() const {
  std::vector<std::string> out;
  if (context_.watched)
    for (const kube::ObjectKey& key : context_.watched->store().keys_in(ns_)) out.push_back(key.name);
  for (const auto& [name, listed] : listed_)
    if (listed.allowed || referred_.takes_all()) out.push_back(name);
  for (std::string& name : referred_.names()) out.push_back(std::move(name));
  return out;
}

bool HomeObjects::is_watched_empty() const {
  return context_.watched && context_.watched->store().keys_in(ns_).empty();
}

bool HomeObjects::is_better_listed() const {
  return listed_.size() >= 2 &&
         std::ranges::all_of(listed_, [&](const auto& listed) { return version_of(listed.first).has_value(); });
}

asio::awaitable<kube::Result<std::vector<std::string>>> HomeObjects::list() {
  std::map<std::string, Listed> now;
  const std::uint64_t newest = listed_at_;
  // The cache of one API server may be behind that of another: objects made since would look as if they were gone.
  for (const char* version : {"0", ""}) {
    now.clear();
    KUBE_CO_TRY(read,
                co_await kube::list_all(context_.home.api(), {context_.kind.resource, ns_},
                                        {.resource_version = version, .metadata_only = true},
                                        [&](const kube::Object& object) {
                                          now[std::string(object.name())] = {object.version_number(),
                                                                             core::reflection::is_allowed(object)};
                                          return true;
                                        }),
                "looking for what is to be reflected");
    // The consistent list is trusted even if its version is older: the database may have been restored.
    listed_at_ = kube::version_number(read);
    if (listed_at_ >= newest) break;
  }
  const std::map<std::string, Listed> known = std::exchange(listed_, std::move(now));
  std::vector<std::string> changed;
  for (const auto& [name, listed] : listed_) {
    const auto before = known.find(name);
    if (before == known.end() || before->second.version != listed.version) changed.push_back(name);
  }
  for (const auto& [name, listed] : known)
    if (!listed_.contains(name)) changed.push_back(name);
  co_return changed;
}

asio::awaitable<kube::Result<bool>> HomeObjects::find_unlisted(std::string name) {
  KUBE_CO_TRY(live, co_await kube::find_live(context_.home.api(), context_.kind.resource, {ns_, name}),
              "looking whether what was reflected has gone");
  if (!live || (!core::reflection::is_allowed(*live) && !referred_.takes_all())) co_return false;
  note_found(*live);
  co_return true;
}

void HomeObjects::note_found(const kube::Object& object) {
  if (context_.watched) return;
  listed_.try_emplace(std::string(object.name()), object.version_number(), core::reflection::is_allowed(object));
  listed_at_ = std::max(listed_at_, object.version_number());
}

asio::awaitable<kube::Result<void>> HomeObjects::read() {
  const auto keep = [&](const kube::Object& object) {
    if (context_.kind.referred_only && !version_of(std::string(object.name()))) return true;
    texts_.put(std::string(object.name()), object.text());
    // Content that is not kept here is read when it is needed.
    return context_.held < Contents::max_bytes / 2;
  };
  KUBE_CO_TRYV(co_await kube::list_all(context_.home.api(), {context_.kind.resource, ns_}, {}, keep),
               "reading what is to be reflected");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> HomeObjects::read_object(std::string name) {
  const kube::ObjectKey key{ns_, std::move(name)};
  if (const std::string text = texts_.take(key.name); !text.empty()) {
    auto object = kube::Object::parse(text);
    if (object && object->version_number() >= version_of(key.name).value_or(0)) {
      // Elements of a list have no apiVersion and kind, and Events need both.
      object->set_kind(context_.kind.resource);
      note_found(*object);
      co_return std::optional(std::move(*object));
    }
  }
  KUBE_CO_TRY(live, co_await kube::find_live(context_.home.api(), context_.kind.resource, key),
              "reading what is to be reflected");
  if (live) note_found(*live);
  co_return std::move(live);
}

void HomeObjects::clear() {
  texts_.clear();
  listed_.clear();
}

}  // namespace liqo::controllers
