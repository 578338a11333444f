// From which of several providers the status of custom resources comes home.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

namespace liqo::controllers {

/// An object in a namespace that several providers have has a copy, and a status, at each; home has one. It is that of
/// the first provider by name: two that were brought home in turns would never agree. One thread.
class StatusSources {
 public:
  /// `changed` is called with a namespace of which the status comes from this provider from now on; must not suspend.
  void join(const std::string& cluster, std::function<void(const std::string& ns)> changed) {
    changed_[cluster] = std::move(changed);
  }
  void leave(const std::string& cluster) {
    changed_.erase(cluster);
    for (auto entry = sources_.begin(); entry != sources_.end();) remove((entry++)->first, cluster);
  }
  /// The provider reflects that namespace, or does no more.
  void add(const std::string& ns, const std::string& cluster) {
    if (sources_[ns].insert(cluster).second && is_source(ns, cluster) && sources_[ns].size() > 1) tell(ns);
  }
  void remove(std::string ns, const std::string& cluster) {
    const auto found = sources_.find(ns);
    if (found == sources_.end()) return;
    const bool was_source = is_source(ns, cluster);
    found->second.erase(cluster);
    if (found->second.empty())
      sources_.erase(found);
    else if (was_source)
      tell(ns);
  }
  bool is_source(const std::string& ns, const std::string& cluster) const {
    const auto found = sources_.find(ns);
    return found == sources_.end() || found->second.empty() || *found->second.begin() == cluster;
  }

 private:
  void tell(const std::string& ns) const {
    if (const auto source = changed_.find(*sources_.at(ns).begin()); source != changed_.end()) source->second(ns);
  }

  std::map<std::string, std::set<std::string>> sources_;  ///< providers by namespace
  std::map<std::string, std::function<void(const std::string&)>> changed_;
};

}  // namespace liqo::controllers
