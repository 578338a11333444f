// Adds the options of liqod to its command line, and reads them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "kube/base/failure.hpp"
#include "options.hpp"

namespace liqod {

/// Values that are read once all options are known, with their presets.
struct Texts {
  std::string lease_duration = "40s", ping_interval = "10s", ping_timeout = "5s", webhook_lifetime = "2160h",
              certificate_validity = "2160h";
  std::string peer_interval = "15s", peer_timeout = "5s", stop_delay = "5s", silence = "0", withdrawal_grace = "10m",
              metric_agent_timeout = "5s";
  std::optional<bool> all_tokens;
  std::optional<liqo::core::ApiServerMode> tokens;
  std::vector<std::string> extra_labels, extra_annotations, twin_names;
  liqo::core::NamespaceSelectionTexts selection;
  bool hides_peers = false;
};

inline constexpr cli::Bounds any_port{.least = 1, .most = 65535};
inline constexpr cli::Bounds port_or_none{.least = 0, .most = 65535};

// The options by subject, in the order of the help. `options` and `texts` must outlive the reading.

/// Which cluster is served, and at which addresses and ports this process answers.
void add_cluster_options(cli::Command app, Options& options, Texts& texts);
/// How virtual nodes are watched and labelled, and which namespaces are offloaded to them.
void add_node_options(cli::Command app, Options& options, Texts& texts);
/// What is copied to providers, and how much memory and how many writes one may cost.
void add_provider_options(cli::Command app, Options& options, Texts& texts);
/// Which kinds are reflected, and how.
void add_reflection_options(cli::Command app, liqo::controllers::Settings& settings);
/// How offloaded pods and consumers reach this cluster's API server and trust it, and the certificates that it issues.
void add_identity_options(cli::Command app, Options& options, Texts& texts);
/// The share of this cluster that slices of consumers are granted. Fails if the defaults are malformed.
kube::Result<void> add_sharing_options(cli::Command app, Options& options);
/// What consumers may do, and the ports at which this process reviews it and serves the usage of their pods.
void add_admission_options(cli::Command app, Options& options, Texts& texts);
/// How replicas share the work and end, and what they log.
void add_process_options(cli::Command app, Options& options, Texts& texts);

/// A text of which the help shows the preset.
cli::Option add_preset(cli::Command app, const char* name, std::string& into, const char* what);
/// A text must be a DNS label.
kube::Result<void> check_label(const std::string& text);

/// Parses the texts into the options. Fails with the first mistake, which names its option.
kube::Result<void> read_texts(Texts texts, Options& options);

}  // namespace liqod
