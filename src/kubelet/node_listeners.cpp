#include "kubelet/node_listeners.hpp"

#include "kubelet/kubelet_server.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::kubelet {

NodeListeners::NodeListeners(const kube::Environment& environment, kube::InformerSet& home, core::PortRange range,
                             kube::Gauge missing)
    : clock_(environment.clock),
      range_(range),
      missing_(std::move(missing)),
      changed_(environment.executor),
      informer_(home.acquire(
          {.resource = kube::resources::nodes,
           .selection = {.label_selector = kube::label_is(api::labels::type, api::labels::type_virtual_node)}})),
      log_("kubelet") {
  informer_.follow([this](const kube::Change& change) { see(change); });
}

void NodeListeners::see(const kube::Change& change) {
  if (const auto port = change.now ? core::shown_port(*change.now) : std::nullopt)
    shown_.insert_or_assign(change.key.name, *port);
  else
    shown_.erase(change.key.name);
  auto nodes = core::nodes_at_ports(range_, shown_);
  if (nodes == nodes_) return;
  nodes_ = std::move(nodes);
  changed_.set();
}

std::set<std::string> NodeListeners::nodes_at(std::uint16_t port) const {
  const auto found = nodes_.find(range_.contains(port) ? port : range_.first);
  return found == nodes_.end() ? std::set<std::string>() : found->second;
}

bool NodeListeners::arrange(KubeletServer& server) {
  std::erase_if(open_, [&](std::uint16_t port) {
    const bool is_left = !nodes_.contains(port);
    if (is_left) server.close(port);
    return is_left;
  });
  std::set<std::uint16_t> refused;
  for (const auto& [port, names] : nodes_) {
    if (port == range_.first || open_.contains(port)) continue;
    if (const auto opened = server.open(port)) {
      open_.insert(port);
      continue;
    } else if (!refused_.contains(port)) {
      log_.error("the port of a virtual node cannot be opened: kubectl logs and exec fail there",
                 {{"node", *names.begin()}, {"error", opened.error()}});
    }
    refused.insert(port);
  }
  refused_ = std::move(refused);
  missing_.set(static_cast<double>(refused_.size()));
  return refused_.empty();
}

asio::awaitable<void> NodeListeners::run(KubeletServer& server) {
  while (true) {
    changed_.reset();
    if (arrange(server))
      co_await changed_.wait();
    else
      static_cast<void>(co_await changed_.wait_for(clock_, pause));
  }
}

}  // namespace liqo::kubelet
