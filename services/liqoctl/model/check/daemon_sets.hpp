// DaemonSets whose pods sit on virtual nodes, in the words of commands. Pure.
// Tested by test/unit/liqoctl/model/check/daemon_sets_test.cpp.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "model/findings.hpp"

namespace liqoctl::model {

/// Those that sit on one of the virtual nodes among `nodes` or, while there is none, would sit on one. In `offloaded`
/// namespaces DaemonSets are meant to be there.
std::vector<kube::Object> sitting_daemon_sets(const std::vector<kube::Object>& sets,
                                              const std::vector<kube::Object>& nodes,
                                              const std::set<std::string, std::less<>>& offloaded);

/// "kube-system/kube-proxy, monitoring/agent (cpu 100m, memory 50Mi)": the names, and what a pod of each books.
std::string daemon_sets_in_words(const std::vector<kube::Object>& sets);

/// What `check` says of them; nothing where there are none.
std::optional<Finding> judge_daemon_sets(const std::vector<kube::Object>& sitting,
                                         const std::vector<kube::Object>& nodes);

/// What becomes of the pods of a DaemonSet whose template changes.
std::string roll_in_words(const kube::Object& set);
/// The required node affinity before and after a change, as the lines of a diff.
std::string affinity_diff(const kube::Object& before, const kube::Object& after);

}  // namespace liqoctl::model
