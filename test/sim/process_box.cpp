#include "process_box.hpp"

#include "kube/base/base64.hpp"

namespace liqo::sim {

using kube::testing::SimLink;
using kube::testing::SimTransport;

namespace {

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
        process(box.simulator_.executor(),
                {.home = home,
                 .connect = [&box, flag = std::shared_ptr<const bool>(killed)](const kube::Object& secret)
                     -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
                   const auto text = kube::decode_base64(kube::string_at(secret.tree(), {"data", "kubeconfig"}));
                   for (auto& [id, link] : box.providers_)
                     if (text && (*text == id || text->find(address_of(id)) != std::string::npos))
                       return std::make_unique<SimProviderLink>(*link, flag);
                   return kube::fail(kube::Errc::parse, "the Secret holds no kubeconfig");
                 },
                 .clock = box.simulator_.clock(),
                 .random = random,
                 .metrics = metrics,
                 .settings = box.settings_,
                 .election = std::nullopt,
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
                       controllers::Settings settings)
    : simulator_(simulator),
      cluster_(cluster),
      settings_(std::move(settings)),
      home_(simulator, home, "liqod-" + cluster) {
  for (const auto& [id, server] : providers)
    providers_[id] = std::make_unique<SimLink>(simulator, *server, "liqod-" + cluster);
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

}  // namespace liqo::sim
