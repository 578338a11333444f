// What a NamespaceOffloading tells people: conditions for each cluster, and one phase over all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/base/time.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::core {

/// One NamespaceMap, as far as one namespace is concerned.
struct TwinState {
  std::string map;        ///< name of the NamespaceMap
  bool required = false;  ///< the cluster is selected; of a NamespaceOffloading that goes: its twin is still asked for
  std::string phase;      ///< what the provider says of the twin: of MappedNamespace, "" = nothing
  std::string message;    ///< the provider's words, "" = none; at most 300 bytes are shown
  bool is_crowded_out = false;  ///< the map asks for so many twins that it cannot ask for this one
  /// Why a twin stays that is not required, or the one that is required cannot take its place; "" = nothing is so.
  std::string held = {};
};

struct OffloadingFacts {
  std::string remote_name;  ///< of the twins, "" where there is no valid one
  std::string trouble;      ///< why no twin can be asked for at all, "" = it can
  std::vector<TwinState> twins;
};

/// JSON merge patch for the status subresource, with the resourceVersion; nothing where the status is as it should be.
/// Transition times change with the status of a condition only.
std::optional<kube::json::object> plan_offloading_status(const kube::Object& offloading, const OffloadingFacts& facts,
                                                         kube::WallTime now);
/// Whether a NamespaceOffloading that is being deleted may go: no twin is asked for or left, but for those that stay
/// without one because they hold data.
bool is_withdrawn(const OffloadingFacts& facts);

}  // namespace liqo::core
