// DaemonSets whose pods run on virtual nodes, in the words of commands. Pure.
// Tested by test/unit/liqoctl/model/check/daemon_sets_test.cpp.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "model/findings.hpp"

namespace liqoctl::model {

/// The DaemonSets with pods on one of the virtual nodes among `nodes` or, while there is none, those that would have
/// some. In `offloaded` namespaces DaemonSets are meant to be there.
std::vector<kube::Object> sitting_daemon_sets(const std::vector<kube::Object>& sets,
                                              const std::vector<kube::Object>& nodes,
                                              const std::set<std::string, std::less<>>& offloaded);

/// The DaemonSets of offloaded namespaces with pods on virtual nodes, or that would have some, but for namespaces with
/// the strategy Remote: DaemonSets there run elsewhere alone.
std::vector<kube::Object> elsewhere_daemon_sets(const std::vector<kube::Object>& sets,
                                                const std::vector<kube::Object>& nodes,
                                                const std::vector<kube::Object>& offloadings);
/// The finding of `check` about those; no value if there are none.
std::optional<Finding> judge_elsewhere_daemon_sets(const std::vector<kube::Object>& elsewhere,
                                                   const std::vector<kube::Object>& nodes);
/// The warning of `offload namespace` about those.
std::string warn_of_elsewhere(const std::vector<kube::Object>& elsewhere);

/// "kube-system/kube-proxy, monitoring/agent (cpu 100m, memory 50Mi)": the names, and the requests of a pod of each.
std::string daemon_sets_in_words(const std::vector<kube::Object>& sets);

/// The finding of `check` about them; no value if there are none.
std::optional<Finding> judge_daemon_sets(const std::vector<kube::Object>& sitting,
                                         const std::vector<kube::Object>& nodes);

/// The effect of a changed template on the pods of a DaemonSet.
std::string roll_in_words(const kube::Object& set);
/// The required node affinity before and after a change, as the lines of a diff.
std::string affinity_diff(const kube::Object& before, const kube::Object& after);

}  // namespace liqoctl::model
