// Writes the statuses of a virtual node's pods at home.
// Tested by test/unit/controllers/offloading/pod_test.cpp.
#pragma once

#include <optional>
#include <string>

#include "controllers/offloading/offloading_node.hpp"
#include "core/addresses/peer_addresses.hpp"
#include "core/offloading/pod_status.hpp"

namespace liqo::controllers {

/// Writes statuses, and sends Events about what they leave out.
///
/// Guarantees: a status is not written if it differs in nothing, or only in fields that the API server at home does not
/// store. A write never undoes a later one. Writes that the provider causes stay within its budget. One thread.
class PodStatusWriter {
 public:
  /// `node` outlives this.
  explicit PodStatusWriter(OffloadingNode& node);

  /// Sets the declared addresses of the provider. Returns whether they have changed.
  bool set_addresses(core::PeerAddresses addresses);
  /// The declared addresses; null = they are not known yet.
  const core::PeerAddresses* addresses() const { return addresses_ ? &*addresses_ : nullptr; }

  /// Writes the wanted status when its turn comes.
  asio::awaitable<kube::Result<void>> write(const kube::Object& local, core::WantedStatus wanted);
  /// The patch that brings the status of the pod at home to what is wanted, as text; nullopt = none is needed.
  std::optional<std::string> plan(const kube::Object& local, const core::WantedStatus& wanted);
  /// How long a status whose patch has so many bytes has to wait for its turn; zero = it may be sent now. Statuses may
  /// be large, so none is kept in memory while it waits: it is forged again.
  kube::Duration take_turn(const kube::Object& local, std::size_t patch_bytes);
  asio::awaitable<kube::Result<void>> send(const kube::Object& local, const core::WantedStatus& wanted,
                                           std::string body);

  /// Sends an Event about what the provider has left out of the remote pod: when it first reports that, and once more
  /// when it has left out more.
  void report_left_out(const kube::Object& local, const kube::Object& remote);
  /// Sends one Event per declaration of addresses: a provider that lies about every pod must not cost an Event each.
  void report_address_left_out(const kube::Object& local, const std::string& address);

 private:
  /// Measures how long a pod took to start, when it is shown as running for the first time.
  void note_start(const kube::Object& shown);

  OffloadingNode& node_;
  std::optional<core::PeerAddresses> addresses_;
  bool reported_address_left_out_ = false;
  kube::Histogram start_times_;
  kube::Log log_;
};

}  // namespace liqo::controllers
