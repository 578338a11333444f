#include "liqo/controllers/process.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "controllers/assembly.hpp"
#include "controllers/nodes/virtual_node.hpp"
#include "controllers/state_metrics.hpp"
#include "controllers/storage/storage_provisioner.hpp"
#include "controllers/vital.hpp"
#include "kube/async/finally.hpp"
#include "liqo/core/offloading/event_source.hpp"

namespace liqo::controllers {
namespace {

std::unique_ptr<kube::Leadership> make_leadership(const asio::any_io_executor& executor, kube::Api& api,
                                                  std::optional<kube::LeaderElectionSettings> election,
                                                  std::function<void()> rewound, kube::LeaderElector*& elector) {
  if (!election) return std::make_unique<kube::SoleLeader>(executor);
  election->rewound = std::move(rewound);
  auto made = std::make_unique<kube::LeaderElector>(executor, api, std::move(*election));
  elector = made.get();
  return made;
}

}  // namespace

Process::Process(ProcessContext context)
    : context_(std::move(context)),
      environment_(context_.environment),
      open_api_(context_.home, environment_.clock, environment_.random, environment_.metrics,
                {.cluster = context_.settings.cluster_id}),
      leadership_(make_leadership(
          environment_.executor, open_api_, context_.election, [this] { home_.read_anew(); }, elector_)),
      api_(context_.home, environment_.clock, environment_.random, environment_.metrics,
           {.cluster = context_.settings.cluster_id, .may_write = [this] { return leadership_->may_write(); }}),
      home_(environment_.executor, api_, environment_.metrics),
      events_(environment_.executor, api_, environment_.metrics, core::event_source),
      shared_{environment_, home_, events_, *leadership_, context_.settings, context_.entropy},
      controllers_(make_controllers(shared_, context_.connect)),
      virtual_nodes_(std::make_unique<VirtualNodeController>(context_.connect, shared_)),
      state_metrics_(std::make_unique<StateMetrics>(*virtual_nodes_, shared_)) {
  if (context_.settings.storage_class.empty()) return;
  controllers_.push_back(std::make_unique<StorageProvisioner>(
      [this](const kube::ObjectKey& key) -> std::optional<ProviderReach> {
        const ProviderSession* session = virtual_nodes_->sessions().find(key);
        if (!session) return std::nullopt;
        core::ForgingContext forging = session->pods().forging();
        return ProviderReach{.link = session->link(), .forging = std::move(forging)};
      },
      shared_));
}

Process::~Process() = default;

asio::awaitable<void> Process::run() {
  // Two groups, because caches and Events must outlive the reconciles that use them.
  kube::async::TaskGroup base(environment_.executor);
  kube::async::TaskGroup controllers(environment_.executor);
  std::exception_ptr lost;
  base.spawn(vital(home_.run(), controllers, lost));
  base.spawn(vital(events_.run(), controllers, lost));
  if (elector_) base.spawn(vital(elector_->run(), controllers, lost));
  for (const auto& controller : controllers_)
    controllers.spawn(kube::run_while_leading(*leadership_, [&one = *controller] { return one.run(); }));
  controllers.spawn(virtual_nodes_->run());
  co_await kube::async::finally(controllers.join(), kube::async::stop_in_turn(controllers, base));
  if (lost) std::rethrow_exception(lost);
}

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
  if (auto trouble = home_.trouble()) return trouble->text();
  return "caches are not complete yet";
}

}  // namespace liqo::controllers
