// Twins that stay though nobody wants them any more, because data of volumes is in them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "liqo/core/namespaces/desired_mapping.hpp"
#include "liqo/core/storage/remote_data.hpp"

namespace liqo::core {

/// By local namespace: the data that its twin at one provider holds, of which there is some.
using HeldTwins = std::map<std::string, std::vector<storage::RemoteData>, std::less<>>;

/// Which of the twins that the provider is asked for hold data. What is not asked for now holds nothing: the data of a
/// twin that has gone does not come back.
HeldTwins held_twins(std::span<const storage::RemoteData> data, std::string_view cluster, const WantedTwins& current);

/// Has the wish ask for the twins that hold data, by the names that they have now, too.
void keep_held(TwinWish& wish, const HeldTwins& held, const WantedTwins& current);

/// Why the twin stays and what to do about it, in two sentences.
std::string why_held(std::string_view ns, std::span<const storage::RemoteData> data);

}  // namespace liqo::core
