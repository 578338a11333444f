// The status of a NamespaceOffloading: conditions for each cluster, and one phase for all together.
// Tested by test/unit/core/namespaces/namespace_offloading_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/base/time.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::core {

/// What one NamespaceMap says about the twin of one namespace.
struct TwinState {
  std::string map;  ///< name of the NamespaceMap
  bool required =
      false;  ///< the cluster is selected; while the NamespaceOffloading is deleted: the twin is still asked for
  std::string phase;            ///< of the MappedNamespace; "" = the provider has not answered
  std::string message;          ///< the provider's words, "" = none; at most 300 bytes are shown
  bool is_crowded_out = false;  ///< the map is full and does not ask for this twin
  /// Why a twin that is not required stays, or keeps the required one from taking its place; "" = no twin does.
  std::string held = {};
  /// What the pods there do not find by names with the namespace in them, a sentence; "" = nothing.
  std::string names = {};
  std::string silence = {};  ///< what is reported of a provider that does not act, a sentence; "" = nothing
};

/// What the status of a NamespaceOffloading is made of.
struct OffloadingFacts {
  std::string remote_name;  ///< of the twins, "" if there is no valid one
  std::string trouble;      ///< why no twin can be asked for at all, "" = it can
  std::vector<TwinState> twins;
};

/// JSON merge patch for the status subresource, with the resourceVersion; nothing if the status is as it should be. A
/// transition time changes only with the status of its condition.
std::optional<kube::json::object> plan_offloading_status(const kube::Object& offloading, const OffloadingFacts& facts,
                                                         kube::WallTime now);
/// What pods do not find at any provider whose twin is ready, and the status has not said before: the text of an Event,
/// "" = nothing. Said once, because the status says it from then on.
std::string new_words_about_names(const kube::Object& offloading, const OffloadingFacts& facts);
/// What pods find from now on at providers of which the status says that they do not, and read as their namespace: the
/// text of an Event, "" = nothing. `home`: this cluster.
std::string new_words_about_reads(const kube::Object& offloading, const OffloadingFacts& facts, std::string_view home);
/// Whether a NamespaceOffloading that is being deleted may go: no twin is asked for or left, apart from twins that hold
/// data and stay without it.
bool is_withdrawn(const OffloadingFacts& facts);

}  // namespace liqo::core
