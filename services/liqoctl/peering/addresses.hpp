// Which addresses of a provider's pods this cluster believes in: proposed, checked, and declared.
#pragma once

#include <optional>

#include "cli/command.hpp"
#include "model/peer/pod_ranges.hpp"
#include "session/session.hpp"

namespace liqoctl {

struct AddressFlags {
  std::vector<std::string> pod_cidrs, local_cidrs;
};

/// Ranges of addresses, separated by commas, or none: anything else is a mistake of the command line.
cli::Option check_ranges(cli::Option option);

/// `--pod-cidr` and `--local-cidr`.
void add_address_flags(cli::Command app, AddressFlags& flags);

/// What this cluster has itself: what `--local-cidr` says, else its Services and nodes, as far as they can be read.
asio::awaitable<Result<std::vector<model::OwnRange>>> own_ranges(Session& session, Cluster& consumer,
                                                                 const AddressFlags& flags);

/// Decides what to declare about a provider, and says so; changes nothing. Answers nothing where a declaration stands
/// already and no flag says otherwise, and where nobody knows any ranges. A pair without a provider leaves the decision
/// to the flag. Errors: Errc::invalid_input for flags that cannot be read, and for ranges that overlap with this
/// cluster's.
asio::awaitable<Result<std::optional<model::PodRanges>>> choose_pod_ranges(Session& session, Session::Pair pair,
                                                                           const AddressFlags& flags);

/// Writes the declaration, as soon as liqod has made the ForeignCluster that bears it. Nothing to declare is no error.
asio::awaitable<Result<void>> declare_pod_ranges(Session& session, Cluster& consumer, std::string provider_id,
                                                 std::optional<model::PodRanges> ranges);

}  // namespace liqoctl
