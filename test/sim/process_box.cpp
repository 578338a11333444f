#include "process_box.hpp"

#include "kube/base/base64.hpp"
#include "request_check.hpp"

namespace liqo::sim {

using kube::testing::SimLink;
using kube::testing::SimTransport;

namespace {

const kube::ObjectKey lease_key{"liqo", "liqod"};

/// Whether the request is about the Lease by which processes elect a leader; such requests have no fence.
bool is_election(const kube::HttpRequest& request) {
  constexpr std::string_view leases = "/apis/coordination.k8s.io/v1/namespaces/liqo/leases";
  return request.target.starts_with(leases);
}

class SimProviderLink final : public controllers::ProviderLink {
 public:
  SimProviderLink(SimLink& link, std::shared_ptr<const bool> killed) : transport_(link, std::move(killed)) {}
  kube::net::Transport& transport() override { return transport_; }
  kube::net::Upgrader* upgrader() override { return nullptr; }
  asio::awaitable<void> stop() override { co_return; }

 private:
  SimTransport transport_;
};

}  // namespace

std::string address_of(std::string_view cluster) { return "https://" + std::string(cluster) + ":6443"; }

/// Everything that ends with the process.
struct ProcessBox::Run {
  Run(ProcessBox& box)
      : killed(std::make_shared<bool>(false)),
        home(box.home_, killed),
        random(box.simulator_.random().next()),
        process(
            {.environment = {box.simulator_.executor(), box.simulator_.clock(), random, metrics},
             .home = home,
             .connect = [&box, flag = std::shared_ptr<const bool>(killed)](
                            const std::string&,
                            const kube::Object& secret) -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
               const auto text = kube::decode_base64(kube::string_at(secret.tree(), {"data", "kubeconfig"}));
               for (auto& [id, link] : box.providers_)
                 if (text && (*text == id || text->find(address_of(id)) != std::string::npos))
                   return std::make_unique<SimProviderLink>(*link, flag);
               return kube::fail(kube::Errc::parse, "the Secret holds no kubeconfig");
             },
             .settings = box.settings_,
             .election = box.identity_.empty() ? std::nullopt
                                               : std::optional(kube::LeaderElectionSettings{.lease = lease_key,
                                                                                            .identity = box.identity_}),
             .entropy = [this](std::size_t size) -> kube::Result<std::string> {
               std::string bytes(size, '\0');
               for (char& byte : bytes) byte = static_cast<char>(random.next());
               return bytes;
             }}),
        group(box.simulator_.executor(), kube::async::TaskGroup::OnFailure::keep_others) {}

  std::shared_ptr<bool> killed;
  SimTransport home;
  kube::Random random;
  kube::Metrics metrics;
  controllers::Process process;
  kube::async::TaskGroup group;
};

ProcessBox::ProcessBox(kube::testing::Simulator& simulator, std::string cluster, kube::testing::FakeApiServer& home,
                       const std::map<std::string, kube::testing::FakeApiServer*>& providers,
                       controllers::Settings settings, std::string identity)
    : simulator_(simulator),
      cluster_(cluster),
      settings_(std::move(settings)),
      home_server_(home),
      identity_(std::move(identity)),
      home_(simulator, home, "liqod-" + cluster) {
  servers_[&home_] = &home;
  for (const auto& [id, server] : providers) {
    providers_[id] = std::make_unique<SimLink>(simulator, *server, "liqod-" + cluster);
    servers_[providers_[id].get()] = server;
  }
  for (SimLink* link : links()) link->on_send([this](const kube::HttpRequest& request) { check_write(request); });
}

bool ProcessBox::leads() { return run_ && run_->process.leadership().may_write(); }

void ProcessBox::check_write(const kube::HttpRequest& request) {
  if (request.method == "GET") return;
  const auto violate = [&](std::string invariant) {
    const auto at = simulator_.clock().wall() - kube::testing::VirtualClock::default_start;
    bad_writes_.emplace(std::move(invariant), cluster_ + " " + identity_ + " at +" +
                                                  std::to_string(at / std::chrono::milliseconds(1)) +
                                                  "ms: " + request.method + " " + request.target);
  };
  if (!identity_.empty() && is_election(request)) return;
  if (!request.may_send) return violate("every write has a fence");
  if (!leads()) return violate("no write after the fence");
  if (identity_.empty()) return;
  if (rival_ && rival_->leads()) violate("never two that may write");
  const auto lease = home_server_.get(kube::resources::leases, lease_key);
  if (!lease || kube::string_at(*lease, {"spec", "holderIdentity"}) != identity_) violate("who writes holds the lease");
}

std::vector<Violation> ProcessBox::check_requests() {
  std::vector<Violation> found;
  for (const auto& [link, server] : servers_)
    for (Violation& violation : sim::check_requests(*link, *server)) found.push_back(std::move(violation));
  for (const auto& [invariant, write] : bad_writes_) found.push_back({invariant, write});
  return found;
}

ProcessBox::~ProcessBox() = default;

controllers::Process* ProcessBox::process() { return is_running() ? &run_->process : nullptr; }

std::vector<SimLink*> ProcessBox::links() {
  std::vector<SimLink*> all{&home_};
  for (auto& [id, link] : providers_) all.push_back(link.get());
  return all;
}

void ProcessBox::start() {
  stopping_ = false;
  run_ = std::make_unique<Run>(*this);
  run_->group.spawn(guard(run_->process.run()));
}

asio::awaitable<void> ProcessBox::guard(asio::awaitable<void> running) {
  std::exception_ptr thrown;
  try {
    co_await std::move(running);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (!stopping_) crash_ = "ended by itself: " + kube::async::describe(thrown);
}

asio::awaitable<void> ProcessBox::stop(bool killed) {
  stopping_ = true;
  *run_->killed = killed;
  co_await run_->group.stop();
  run_.reset();
}

std::vector<std::string> stop_all(kube::testing::Simulator& simulator,
                                  const std::map<std::string, std::unique_ptr<ProcessBox>>& daemons) {
  std::vector<std::string> hanging;
  for (const auto& [name, daemon] : daemons) {
    if (!daemon->is_running()) continue;
    try {
      simulator.run(daemon->stop(false), std::chrono::minutes(2));
    } catch (const std::runtime_error&) {
      hanging.push_back(name);
    }
  }
  return hanging;
}

}  // namespace liqo::sim
