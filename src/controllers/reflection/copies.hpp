// What is known of the copies of one kind in one twin namespace, without a watch and without their content.
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

namespace liqo::reflector {

/// One object of a twin namespace, ours or not.
struct Copy {
  std::string uid;
  std::uint64_t version = 0;  ///< the newest that is known
  /// The wish, by its digest ("" = that there be none), for which this version was found to need nothing. Unset: it has
  /// to be looked at.
  std::optional<std::string> settled_for;
  bool is_ours = false;      ///< it is a copy, and no object of somebody else; known once it is settled
  std::uint64_t source = 0;  ///< version of the object at home from which that wish came; 0 = there was none
};

/// All objects of one kind in one twin namespace. Lists and answers to writes may come in any order: versions say which
/// is newer (KEP-5504). What it holds counts in the budget of the provider, which outlives it.
class Copies {
 public:
  /// What a list of metadata tells of one object.
  struct Seen {
    std::string name, uid;
    std::uint64_t version = 0;
  };

  /// Of that kind in the twin namespace `ns`. `budget`, and the text that `resource` refers to, outlive this.
  Copies(kube::StoreBudget& budget, const kube::Resource& resource, std::string ns);
  ~Copies();
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  /// What is known of the object of that name, or null; it lives until that object is changed or erased here.
  const Copy* find(const std::string& name) const;
  /// Whether no object is known.
  bool empty() const { return copies_.empty(); }
  /// The names of all objects, in their order.
  std::vector<std::string> names() const;

  /// Takes an object that has to be looked at.
  void find_there(const kube::Object& object);
  /// Takes a state of an object that needs nothing, for this wish and this version of its source.
  void settle(const kube::Object& object, std::string wish, std::uint64_t source, bool is_ours = true);
  /// Notes the version of an object at home that has changed in nothing that is reflected.
  void settle_source(const std::string& name, std::uint64_t source);
  /// Has an object looked at again, which may be one that was not known.
  void doubt(const std::string& name);
  /// Has the wish for an object forged again, because it may have changed.
  void doubt_source(const std::string& name);
  /// Has the wishes for all objects forged again.
  void doubt_sources();
  /// Forgets an object that is gone.
  void erase(const std::string& name);
  /// Forgets all objects, and gives back what they took of the budget.
  void clear();
  /// The newest version of all that is known now.
  std::uint64_t newest() const;
  /// Compares with a complete list. Answers the names of what is not as it was known: they have to be looked at.
  std::vector<std::string> compare(std::span<const Seen> listed, std::uint64_t list_version);

 private:
  using Entries = std::map<std::string, Copy, std::less<>>;
  /// Changes one, and tells the budget.
  template <class F>
  void change(const std::string& name, const F& how);
  Entries::iterator drop(Entries::iterator at);
  static std::size_t size_of(const Entries::value_type& entry);

  kube::StoreBudget& budget_;
  std::string_view resource_;
  std::string ns_;
  Entries copies_;
};

}  // namespace liqo::reflector
