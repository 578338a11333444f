// Chooses from which of several providers the status of custom resources comes home.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace liqo::controllers {

/// If several providers have twins of a namespace, an object there has a copy and a status at each provider that takes
/// its kind, but home has only one status. It comes from the first of these providers by name: two that were brought
/// home in turns would never agree. One thread.
class StatusSources {
 public:
  /// A reflecting provider: the cluster, and a number that is unique among all that have joined for it.
  using Source = std::pair<std::string, std::uint64_t>;
  /// The unit that has one source: the objects of a kind, by its name, in a namespace.
  struct Scope {
    std::string kind, ns;
    auto operator<=>(const Scope&) const = default;
  };

  /// `changed` is called with a scope whose status comes from this source from now on; must not suspend.
  Source join(const std::string& cluster, std::function<void(const Scope&)> changed) {
    Source source{cluster, ++joined_};
    changed_[source] = std::move(changed);
    return source;
  }
  void leave(const Source& source) {
    changed_.erase(source);
    for (auto entry = sources_.begin(); entry != sources_.end();) remove((entry++)->first, source);
  }
  /// Adds a scope that the source reflects; remove() takes it out again. Both are idempotent.
  void add(const Scope& scope, const Source& source) {
    std::set<Source>& of_scope = sources_[scope];
    if (of_scope.insert(source).second && is_source(scope, source) && of_scope.size() > 1) notify(scope);
  }
  void remove(Scope scope, const Source& source) {
    const auto found = sources_.find(scope);
    if (found == sources_.end()) return;
    const bool was_source = is_source(scope, source);
    if (found->second.erase(source) == 0) return;
    if (found->second.empty())
      sources_.erase(found);
    else if (was_source)
      notify(scope);
  }
  bool is_source(const Scope& scope, const Source& source) const {
    const auto found = sources_.find(scope);
    return found == sources_.end() || *found->second.begin() == source;
  }

 private:
  void notify(const Scope& scope) const {
    if (const auto source = changed_.find(*sources_.at(scope).begin()); source != changed_.end()) source->second(scope);
  }

  std::uint64_t joined_ = 0;
  std::map<Scope, std::set<Source>> sources_;
  std::map<Source, std::function<void(const Scope&)>> changed_;
};

}  // namespace liqo::controllers
