// From which of several providers the status of custom resources comes home.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace liqo::controllers {

/// An object in a namespace that several providers have has a copy, and a status, at each; home has one. It is that of
/// the first provider by name: two that were brought home in turns would never agree. One thread.
class StatusSources {
 public:
  /// One who reflects: the cluster, and which of those that have ever joined for it.
  using Source = std::pair<std::string, std::uint64_t>;

  /// `changed` is called with a namespace of which the status comes from this source from now on; must not suspend.
  Source join(const std::string& cluster, std::function<void(const std::string& ns)> changed) {
    Source source{cluster, ++joined_};
    changed_[source] = std::move(changed);
    return source;
  }
  void leave(const Source& source) {
    changed_.erase(source);
    for (auto entry = sources_.begin(); entry != sources_.end();) remove((entry++)->first, source);
  }
  /// The source reflects that namespace, or does no more.
  void add(const std::string& ns, const Source& source) {
    if (sources_[ns].insert(source).second && is_source(ns, source) && sources_[ns].size() > 1) tell(ns);
  }
  void remove(std::string ns, const Source& source) {
    const auto found = sources_.find(ns);
    if (found == sources_.end()) return;
    const bool was_source = is_source(ns, source);
    found->second.erase(source);
    if (found->second.empty())
      sources_.erase(found);
    else if (was_source)
      tell(ns);
  }
  bool is_source(const std::string& ns, const Source& source) const {
    const auto found = sources_.find(ns);
    return found == sources_.end() || *found->second.begin() == source;
  }

 private:
  void tell(const std::string& ns) const {
    if (const auto source = changed_.find(*sources_.at(ns).begin()); source != changed_.end()) source->second(ns);
  }

  std::uint64_t joined_ = 0;
  std::map<std::string, std::set<Source>> sources_;  ///< by namespace
  std::map<Source, std::function<void(const std::string&)>> changed_;
};

}  // namespace liqo::controllers
