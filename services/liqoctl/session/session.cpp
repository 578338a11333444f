#include "session/session.hpp"

#include <sstream>

#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "model/peer/remote_trust.hpp"
#include "session/kubeconfig.hpp"

namespace liqoctl {

using kube::Errc;

Session::Session(SessionContext context, CommonFlags flags)
    : context_(std::move(context)),
      flags_(std::move(flags)),
      output_(context_.clock, context_.terminal),
      deadline_(context_.clock.deadline_in(flags_.timeout)) {
  output_.set_verbose(flags_.verbose);
}

asio::awaitable<Result<Cluster*>> Session::opened(Side side, bool with_id) {
  const bool remote = side == Side::remote;
  std::unique_ptr<Cluster>& cluster = remote ? remote_ : local_;
  if (!cluster) {
    KUBE_CO_TRY(config, find_cluster(remote ? flags_.remote : flags_.local, side));
    // Only a kubeconfig that --remote-kubeconfig names may come from another person.
    if (remote && !flags_.remote.kubeconfig.empty()) KUBE_CO_TRYV(co_await allow_remote(config));
    KUBE_CO_TRY(opened, co_await Cluster::open({.outside = context_, .output = output_, .flags = flags_}, side,
                                               std::move(config)));
    cluster = std::move(opened);  // so that stop() closes its connections if anything throws from here on
    if (with_id)
      if (auto answers = co_await cluster->learn_id(); !answers) {
        const std::unique_ptr<Cluster> silent = std::move(cluster);
        co_await silent->stop();
        const std::string expired =
            answers.error().http_code() == 401 ? describe_expiry(silent->config(), clock().wall()) : "";
        if (!expired.empty()) co_return kube::fail(std::move(answers.error()), expired);
        co_return std::unexpected(std::move(answers.error()));
      }
  }
  co_return cluster.get();
}

asio::awaitable<Result<Cluster*>> Session::local() { return opened(Side::local); }
asio::awaitable<Result<Cluster*>> Session::local_without_id() { return opened(Side::local, false); }
asio::awaitable<Result<Cluster*>> Session::remote() { return opened(Side::remote); }

asio::awaitable<Result<Session::Pair>> Session::both() {
  KUBE_CO_TRY(consumer, co_await local());
  KUBE_CO_TRY(provider, co_await remote());
  Pair pair{.consumer = consumer, .provider = provider};
  KUBE_CO_TRY(consumer_id, co_await pair.consumer->id(), "consumer");
  KUBE_CO_TRY(provider_id, co_await pair.provider->id(), "provider");
  if (consumer_id == provider_id)
    co_return kube::fail(Errc::invalid_input, "both kubeconfigs lead to cluster " + consumer_id +
                                                  ": give that of the other cluster with --remote-kubeconfig");
  pair.consumer_id = std::move(consumer_id);
  pair.provider_id = std::move(provider_id);
  co_return pair;
}

asio::awaitable<Result<void>> Session::allow_remote(const kube::wire::ClusterConfig& config) {
  const std::string deeds = model::deeds_of(config);
  if (deeds.empty() || flags_.remote_allow_exec) co_return Result<void>();
  // --skip-confirm covers the changes of this command, but not the trust in a kubeconfig.
  if (flags_.skip_confirm || !context_.terminal.traits().can_be_asked)
    co_return kube::fail(Errc::invalid_input, "the remote cluster's kubeconfig " + deeds +
                                                  ". Give --remote-allow-exec if you trust whoever wrote it.");
  if (co_await answered_yes("The remote cluster's kubeconfig " + deeds + ".")) co_return Result<void>();
  co_return kube::fail(Errc::stopped, "not allowed: nothing was done");
}

asio::awaitable<Result<void>> Session::confirm(std::string what) {
  if (flags_.skip_confirm || flags_.dry_run) co_return Result<void>();
  if (!context_.terminal.traits().can_be_asked)
    co_return kube::fail(Errc::invalid_input,
                         "cannot ask for confirmation without a terminal: pass --skip-confirm to proceed. " + what);
  if (co_await answered_yes(what)) co_return Result<void>();
  co_return kube::fail(Errc::stopped, "not confirmed: nothing was changed");
}

asio::awaitable<bool> Session::answered_yes(std::string question) {
  output_.clear();
  context_.terminal.print_error(kube::printable(question) + " Go on? [y/N] ");
  std::istringstream line(co_await context_.terminal.read_line());
  std::string answer;
  line >> answer;
  answer = kube::lower_case(answer);
  co_return answer == "y" || answer == "yes";
}

std::vector<Cluster*> Session::clusters() const {
  std::vector<Cluster*> out;
  for (Cluster* one : {local_.get(), remote_.get()})
    if (one) out.push_back(one);
  return out;
}

asio::awaitable<void> Session::stop() {
  if (local_) co_await local_->stop();
  if (remote_) co_await remote_->stop();
}

}  // namespace liqoctl
