#include "controllers/process/process.hpp"

#include <algorithm>

#include "controllers/common/shared_history.hpp"
#include "controllers/links/provider_budget.hpp"
#include "controllers/nodes/virtual_node.hpp"
#include "controllers/process/assembly.hpp"
#include "controllers/process/state_metrics.hpp"
#include "controllers/storage/storage_provisioner.hpp"
#include "core/admission/tenant_rules.hpp"
#include "core/offloading/event_source.hpp"
#include "core/peering/replication.hpp"

namespace liqo::controllers {
namespace {

/// The caches. They know which kinds share a database, and keep little of the objects that consumers stored before
/// their writes were bounded.
kube::InformerSet& prepared(kube::InformerSet& caches) {
  share_history(caches);
  for (const kube::Resource& kind : core::replicated_kinds()) caches.prune(kind, core::admission::cut_large_replica);
  return caches;
}

}  // namespace

Process::Process(ProcessContext context)
    : context_(std::move(context)),
      manager_(context_.environment, context_.home,
               {.cluster = context_.settings.cluster_id, .source = core::event_source, .election = context_.election}),
      accounts_(context_.settings.links.provider_cache_mib, context_.environment.metrics),
      shared_{manager_.environment(),
              prepared(manager_.caches()),
              manager_.events(),
              manager_.leadership(),
              context_.settings,
              context_.entropy,
              accounts_},
      budgets_(std::make_unique<ProviderBudgets>(shared_)),
      ledger_(make_ledger()),
      controllers_(make_controllers(shared_, context_.connect, *budgets_, ledger_.get())),
      virtual_nodes_(std::make_unique<VirtualNodeController>(context_.connect, *budgets_, shared_)),
      state_metrics_(std::make_unique<StateMetrics>(*virtual_nodes_, shared_)) {
  if (!context_.settings.storage.storage_class.empty()) controllers_.push_back(make_provisioner());
  for (const auto& controller : controllers_) manager_.add([&one = *controller] { return one.run(); });
  manager_.add_always([this] { return budgets_->run(); });
  manager_.add_always([this] { return virtual_nodes_->run(); });
  if (ledger_) manager_.add_always([this] { return ledger_->run(); });
}

std::unique_ptr<quota::QuotaLedger> Process::make_ledger() {
  if (!context_.ledger) return nullptr;
  return std::make_unique<quota::QuotaLedger>(
      quota::LedgerContext{shared_.environment(), shared_.home, shared_.events, shared_.leadership,
                           context_.settings.liqo_namespace},
      manager_.open_api(), *context_.ledger);
}

std::unique_ptr<Runnable> Process::make_provisioner() {
  return std::make_unique<StorageProvisioner>(
      [this](const kube::ObjectKey& key) -> std::optional<ProviderReach> {
        const ProviderSession* session = virtual_nodes_->sessions().find(key);
        if (!session) return std::nullopt;
        core::ForgingContext forging = session->pods().forging();
        return ProviderReach{.link = session->link(), .forging = std::move(forging)};
      },
      shared_);
}

Process::~Process() = default;

bool Process::has_synced() const {
  return virtual_nodes_->has_synced() &&
         std::ranges::all_of(controllers_, [](const auto& controller) { return controller->has_synced(); });
}

bool Process::is_busy() const {
  return virtual_nodes_->is_busy() ||
         std::ranges::any_of(controllers_, [](const auto& controller) { return controller->is_busy(); });
}

std::string Process::waiting_for() const {
  if (has_synced()) return "";
  if (auto trouble = manager_.caches().trouble()) return trouble->text();
  return "caches are not complete yet";
}

}  // namespace liqo::controllers
