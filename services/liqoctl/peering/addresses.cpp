#include "peering/addresses.hpp"

#include "core/common/peer_names.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "peering/foreign_cluster.hpp"
#include "session/find_one.hpp"

namespace liqoctl {
namespace {

namespace core = liqo::core;
namespace kinds = liqo::api::kinds;

/// All objects of a kind that this user may see.
struct Seen {
  std::vector<Object> objects = {};
  bool refused = false;  ///< the user may not see them
};

/// No objects if the cluster does not know the kind.
asio::awaitable<Result<Seen>> list_if_any(Cluster& cluster, const kube::Resource& resource, std::string ns) {
  auto found = co_await cluster.list(resource, std::move(ns));
  if (found) co_return Seen{.objects = std::move(*found)};
  if (!found.error().is_not_found() && !found.error().is_forbidden())
    co_return std::unexpected(std::move(found.error()));
  co_return Seen{.refused = found.error().is_forbidden()};
}

asio::awaitable<Result<std::vector<model::Cidr>>> propose(Session& session, Cluster& provider, std::string id) {
  const std::string ns = provider.liqo_namespace();
  KUBE_CO_TRY(told,
              co_await provider.find(kube::resources::config_maps, {ns, std::string(core::cluster_id_config_map)}),
              provider.scope());
  auto ranges = model::published_ranges(told ? &*told : nullptr, {});
  std::string how = " (as " + id + " says; --pod-cidr overrides this)";
  if (ranges.empty()) {
    KUBE_CO_TRY(networks, co_await list_if_any(provider, kinds::networks, ns), provider.scope());
    ranges = model::published_ranges(nullptr, networks.objects);
  }
  if (ranges.empty()) {
    KUBE_CO_TRY(nodes, co_await list_if_any(provider, kube::resources::nodes, ""), provider.scope());
    ranges = model::node_ranges(nodes.objects);
    how = " (those of its nodes today; --pod-cidr overrides this)";
  }
  if (ranges.empty()) {
    session.output().warn(provider.scope(), "pods of " + id +
                                                " will show no addresses here, because it does not say in which ranges "
                                                "they are: give --pod-cidr RANGE, or --pod-cidr none");
  } else {
    session.output().info(provider.scope(), "pods of " + id + " are in " + core::in_words(ranges) + how);
  }
  co_return ranges;
}

}  // namespace

asio::awaitable<Result<std::vector<model::OwnRange>>> own_ranges(Session& session, Cluster& consumer,
                                                                 const AddressFlags& flags) {
  if (!flags.local_cidrs.empty()) {
    const std::string joined = kube::join(flags.local_cidrs, ",");
    KUBE_CO_TRY(ranges, joined == "none" ? Result<std::vector<model::Cidr>>() : core::parse_ranges(joined),
                "--local-cidr");
    std::vector<model::OwnRange> own;
    own.reserve(ranges.size());
    for (const model::Cidr& range : ranges) own.push_back({range, "its own addresses (--local-cidr)"});
    co_return own;
  }
  KUBE_CO_TRY(services, co_await list_if_any(consumer, kinds::service_cidrs, ""), consumer.scope());
  KUBE_CO_TRY(nodes, co_await list_if_any(consumer, kube::resources::nodes, ""), consumer.scope());
  auto api = co_await consumer.api().get(kube::resources::services, {"default", "kubernetes"});
  if (!api && !api.error().is_not_found() && !api.error().is_forbidden())
    co_return kube::fail(std::move(api.error()), consumer.scope());
  if (services.refused || nodes.refused)
    session.output().warn(consumer.scope(),
                          "this user may not read which ranges this cluster has itself: give them with --local-cidr");
  co_return model::own_ranges(services.objects, api ? &*api : nullptr, nodes.objects);
}

cli::Option check_ranges(cli::Option option) {
  return option.check([](const std::string& given) -> kube::Result<void> {
    if (given == "none") return {};
    auto ranges = core::parse_ranges(given);
    return ranges ? Result<void>() : std::unexpected(std::move(ranges.error()));
  });
}

void add_address_flags(cli::Command app, AddressFlags& flags) {
  const std::string group = "Addresses of the provider's pods";
  for (const auto& [name, into, what] :
       {std::tuple("--pod-cidr", &flags.pod_cidrs,
                   "Range in which they are reached; by default what the provider says"),
        std::tuple("--local-cidr", &flags.local_cidrs, "Range of this cluster; by default its ServiceCIDRs and Nodes")})
    check_ranges(app.list(name, *into, what).group(group).type_name("RANGE|none"));
}

asio::awaitable<Result<std::optional<model::PodRanges>>> choose_pod_ranges(Session& session, Session::Pair pair,
                                                                           const AddressFlags& flags) {
  Cluster& consumer = *pair.consumer;
  const std::string& provider_id = pair.provider_id;
  model::PodRanges chosen;
  if (!flags.pod_cidrs.empty()) {
    KUBE_CO_TRY(given, model::read_pod_ranges(flags.pod_cidrs));
    chosen = std::move(given);
  } else {
    KUBE_CO_TRY(peer, co_await find_peer(consumer, provider_id), consumer.scope());
    if (peer && peer->has_annotation(liqo::api::annotations::remote_pod_cidrs))
      co_return std::optional<model::PodRanges>();
    if (!pair.provider) {
      session.output().warn(consumer.scope(), "pods of " + provider_id +
                                                  " will show no addresses here until their ranges are declared: give "
                                                  "--pod-cidr RANGE, or --pod-cidr none");
      co_return std::optional<model::PodRanges>();
    }
    KUBE_CO_TRY(proposed, co_await propose(session, *pair.provider, provider_id));
    if (proposed.empty()) co_return std::optional<model::PodRanges>();
    chosen.ranges = std::move(proposed);
  }
  if (!chosen.ranges.empty()) {
    KUBE_CO_TRY(own, co_await own_ranges(session, consumer, flags));
    KUBE_CO_TRYV(model::check_overlap(provider_id, chosen.ranges, own));
  }
  co_return std::optional(std::move(chosen));
}

asio::awaitable<Result<void>> declare_pod_ranges(Session& session, Cluster& consumer, std::string provider_id,
                                                 std::optional<model::PodRanges> ranges) {
  if (!ranges) co_return Result<void>();
  const std::string text = ranges->annotation();
  if (session.flags().dry_run) {
    session.output().info(consumer.scope(), "ranges of pods of " + provider_id + " would be declared: " + text);
    co_return Result<void>();
  }
  KUBE_CO_TRY(key, co_await wait_for_foreign_cluster(session, consumer, provider_id));
  const std::function<bool(Object&)> change = [&text](Object& peer) {
    if (peer.annotation(liqo::api::annotations::remote_pod_cidrs) == text) return false;
    peer.set_annotation(liqo::api::annotations::remote_pod_cidrs, text);
    return true;
  };
  KUBE_CO_TRY(done, co_await update(consumer, kinds::foreign_clusters, key, change), consumer.scope());
  if (done == Ensured::changed)
    session.output().success(consumer.scope(), "ranges of pods of " + provider_id + " declared: " + text);
  co_return Result<void>();
}

}  // namespace liqoctl
