// Tracks the copies of one kind in one twin namespace, without a watch and without their content.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"
#include "kube/runtime/store_budget.hpp"

namespace liqo::controllers {

/// One object of a twin namespace, ours or not.
struct Copy {
  std::string uid;
  std::uint64_t version = 0;  ///< the newest that is known
  /// The digest of the wish for which this version was found to need no change ("" = the wish is to have no copy).
  /// Unset: the object has to be looked at.
  std::optional<std::string> settled_for;
  bool is_ours = false;      ///< it is a copy, and not an object of another owner; known once it is settled
  std::uint64_t source = 0;  ///< version of the object at home from which that wish was made; 0 = there was none
};

/// All objects of one kind in one twin namespace. Lists and answers to writes may come in any order: versions show
/// which is newer (KEP-5504). Its memory counts in the budget of the provider, which outlives it.
class Copies {
 public:
  /// One object in a list of metadata.
  struct Seen {
    std::string name, uid;
    std::uint64_t version = 0;
  };

  /// Of that kind in the twin namespace `ns`. `budget`, and the text that `resource` refers to, outlive this.
  Copies(kube::StoreBudget& budget, const kube::Resource& resource, std::string ns);
  ~Copies();
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  /// The entry of that name, or null; it is valid until that entry is changed or erased.
  const Copy* find(const std::string& name) const;
  /// Whether no object is known.
  bool empty() const { return copies_.empty(); }
  /// The names of all objects, sorted.
  std::vector<std::string> names() const;

  /// Adds an object that has to be looked at.
  void find_there(const kube::Object& object);
  /// Notes that this state of an object needs no change, for this wish and this version of its source.
  void settle(const kube::Object& object, std::string wish, std::uint64_t source, bool is_ours = true);
  /// Notes the version of an object at home whose change does not affect the copy.
  void settle_source(const std::string& name, std::uint64_t source);
  /// Has an object looked at again, even one that was not known.
  void doubt(const std::string& name);
  /// Has the wish for an object forged again, because it may have changed.
  void doubt_source(const std::string& name);
  /// Has the wishes for all objects forged again.
  void doubt_sources();
  /// Forgets an object that is gone.
  void erase(const std::string& name);
  /// Forgets all objects, and returns their memory to the budget.
  void clear();
  /// The newest known version of all objects.
  std::uint64_t newest() const;
  /// Compares with a complete list. Returns the names of objects that differ from what was known: they have to be
  /// looked at.
  std::vector<std::string> compare(std::span<const Seen> listed, std::uint64_t list_version);

 private:
  using Entries = std::map<std::string, Copy, std::less<>>;
  /// Changes an entry, and updates the budget.
  template <class F>
  void change(const std::string& name, const F& how);
  Entries::iterator drop(Entries::iterator at);
  static std::size_t size_of(const Entries::value_type& entry);

  kube::StoreBudget& budget_;
  std::string_view resource_;
  std::string ns_;
  Entries copies_;
};

}  // namespace liqo::controllers
