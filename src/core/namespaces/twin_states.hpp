// The state of the twins of one namespace at all providers, as far as it is known.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/namespaces/offloading_status.hpp"
#include "core/storage/remote_data.hpp"

namespace liqo::core {

/// What one NamespaceMap says of the twin of a namespace.
struct ReportedTwin {
  std::string cluster;         ///< the provider, after which the map is named
  std::string asked;           ///< name of the twin that the map asks for, "" = it asks for none
  std::string phase, message;  ///< the provider's words
  std::string kept;            ///< why it is kept though the map does not ask for it, "" = it is not
  bool is_deleting = false;    ///< the map: all of its twins are removed
  bool is_full = false;        ///< the map asks for as many twins as it may
};

/// What the twins of a namespace are judged by.
struct TwinsSight {
  std::string ns;           ///< the namespace
  std::string remote_name;  ///< of the twins that are wanted, "" = there is no valid one
  std::span<const ReportedTwin> reported;
  std::set<std::string, std::less<>> selected;  ///< the providers of which a virtual node is selected
  /// False if the selector is invalid, which does not mean that a twin is not wanted.
  bool is_wish_known = true;
  std::span<const storage::RemoteData> data;  ///< of all volumes whose data is at a provider
};

/// The state at each provider, in the order of their IDs. A twin is required if its cluster is selected, and if it is
/// asked for: it may stay for a while when no node matches any more. A twin that is not wanted, or has another name
/// than the wanted one, is held if it has the data of volumes, or of claims that this cluster does not know.
std::vector<TwinState> twin_states(const TwinsSight& sight);

}  // namespace liqo::core
