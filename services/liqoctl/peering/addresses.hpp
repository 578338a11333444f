// The ranges of a provider's pods that this cluster trusts: proposed, checked, and declared.
#pragma once

#include <optional>

#include "cli/command.hpp"
#include "model/peer/pod_ranges.hpp"
#include "session/session.hpp"

namespace liqoctl {

struct AddressFlags {
  std::vector<std::string> pod_cidrs, local_cidrs;
};

/// Makes the option take ranges of addresses, separated by commas, or "none". Anything else is a mistake in the command
/// line.
cli::Option check_ranges(cli::Option option);

/// `--pod-cidr` and `--local-cidr`.
void add_address_flags(cli::Command app, AddressFlags& flags);

/// The ranges of this cluster itself: those of `--local-cidr`, else its Services and nodes, as far as they can be read.
asio::awaitable<Result<std::vector<model::OwnRange>>> own_ranges(Session& session, Cluster& consumer,
                                                                 const AddressFlags& flags);

/// Decides which ranges to declare for a provider, and prints that; changes nothing. No value if a declaration exists
/// already and `--pod-cidr` is not given, or if the ranges are unknown. A pair without a provider leaves the decision
/// to the flag. Errors: Errc::invalid_input for flags that cannot be read, and for ranges that overlap with this
/// cluster's.
asio::awaitable<Result<std::optional<model::PodRanges>>> choose_pod_ranges(Session& session, Session::Pair pair,
                                                                           const AddressFlags& flags);

/// Waits until liqod has made the ForeignCluster, and writes the declaration to it. No ranges to declare is no error.
asio::awaitable<Result<void>> declare_pod_ranges(Session& session, Cluster& consumer, std::string provider_id,
                                                 std::optional<model::PodRanges> ranges);

}  // namespace liqoctl
