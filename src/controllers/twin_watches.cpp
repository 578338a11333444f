#include "liqo/controllers/twin_watches.hpp"

#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/service_account_token.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

/// Of a provider's pod only what tells its state is needed here.
void prune_remote_pod(kube::json::object& tree) {
  kube::json::object* spec = tree.contains("spec") ? tree["spec"].if_object() : nullptr;
  if (!spec) return;
  kube::json::object kept;
  for (std::string_view field : {"nodeName", "restartPolicy"})
    if (const auto* value = spec->if_contains(field)) kept[field] = *value;
  tree["spec"] = std::move(kept);
}

/// All virtual nodes of a provider ask when they begin, one after the other. No other process can have led in between
/// for so short a time.
constexpr kube::Duration tokens_hold_for = 5s;
/// More than a provider has virtual nodes: what it shows must not fill this process.
constexpr std::size_t most_token_nodes = 256;

/// Tells those who wait, also where the reading is cancelled.
struct EndOfReading {
  TwinWatch& watch;
  ~EndOfReading() { std::exchange(watch.tokens_read, nullptr)->set(); }
};

}  // namespace

std::string_view TwinWatches::token_selector() { return api::labels::service_account_name; }

std::shared_ptr<TwinWatch> TwinWatches::watch(const std::string& local, const std::string& remote) {
  const std::pair key{local, remote};
  if (const auto known = watches_.find(key); known != watches_.end())
    if (auto held = known->second.lock()) return held;
  std::shared_ptr<TwinWatch> made(new TwinWatch{.local = local, .remote = remote}, [this, key](TwinWatch* watch) {
    watches_.erase(key);
    delete watch;
  });
  TwinWatch* const watch = made.get();
  watch->shadows = caches_.acquire({.resource = api::kinds::shadow_pods, .ns = remote});
  watch->pods = caches_.acquire({.resource = kube::resources::pods, .ns = remote, .prune = prune_remote_pod});
  const auto synced = [this, watch] {
    if (!watch->has_synced()) return;
    for (const TwinReader& reader : readers_) reader.synced(*watch);
  };
  watch->shadows.subscribe(
      [this, watch](const kube::Change& change) {
        for (const TwinReader& reader : readers_) reader.shadow_changed(*watch, change);
      },
      synced);
  watch->pods.subscribe(
      [this, watch](const kube::Change& change) {
        for (const TwinReader& reader : readers_) reader.pod_changed(*watch, change);
      },
      synced);
  watches_[key] = made;
  return made;
}

asio::awaitable<kube::Result<void>> TwinWatches::find_tokens(std::shared_ptr<TwinWatch> watch, kube::Api& api,
                                                             core::ClusterPair clusters) {
  const auto is_known = [&] {
    return watch->tokens_read_at && clock_.now() - *watch->tokens_read_at < tokens_hold_for;
  };
  while (!is_known() && watch->tokens_read) co_await std::shared_ptr(watch->tokens_read)->wait();
  if (is_known()) co_return kube::Result<void>();
  watch->tokens_read = std::make_shared<kube::async::Event>(executor_);
  const EndOfReading end{*watch};
  auto listed = co_await kube::list_all(
      api, kube::resources::secrets, watch->remote,
      {.selection = {.label_selector = std::string(token_selector())}, .resource_version = "0", .metadata_only = true},
      [&](const kube::Object& secret) {
        const std::string_view node = secret.label(api::labels::node_name);
        if (!core::is_token_secret(secret, clusters) || watch->has_tokens_of(node)) return true;
        watch->all_have_tokens = watch->token_nodes.size() >= most_token_nodes;
        if (!watch->all_have_tokens) watch->token_nodes.emplace(node);
        return !watch->all_have_tokens;
      });
  if (!listed) co_return std::unexpected(std::move(listed.error()));
  watch->tokens_read_at = clock_.now();
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
