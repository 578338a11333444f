// The memory of the objects of one namespace, from one look at them to the next.
// Tested by test/unit/controllers/reflection/reflected_object_test.cpp.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "controllers/common/counters.hpp"
#include "core/reflection/contest.hpp"
#include "core/reflection/narrowed.hpp"
#include "kube/base/time.hpp"

namespace liqo::controllers {

/// Entries are by the name of the object at home, unless a comment says otherwise.
struct ObjectNotes {
  struct Reported {
    kube::TimePoint at{};
    bool lacks = false;
  };
  /// The last status that came home from a copy: its digest as home has it, and when it was written.
  struct Gathered {
    std::string digest;
    std::optional<kube::TimePoint> at;
    std::optional<kube::TimePoint> reported_at;  ///< when it was last reported that it cannot be written
    std::optional<kube::TimePoint> turn;         ///< the reserved time of the next write at home
    std::size_t turn_bytes = 0;                  ///< for how many bytes it is reserved
  };

  /// An object whose copy is narrowed, because the provider has refused some of it.
  struct Narrowed {
    core::reflection::RefusedParts refused;
    std::string wish;            ///< the digest of the whole copy that was refused last
    kube::TimePoint tried_at{};  ///< when it was
    kube::Duration pause{};      ///< until it is tried again, if nothing changes
    bool reported = false;
    bool given_up = false;  ///< it is not narrowed, because more was refused than it may go without
  };

  /// What the annotation at home is to say of the addresses of a copy.
  struct Addressed {
    std::string digest;                   ///< of the addresses
    kube::TimePoint again{};              ///< when they are written again at the earliest
    kube::Duration pause{};               ///< the last pause before that; 0 = they were not written yet
    std::optional<kube::TimePoint> turn;  ///< the reserved time of the next write at home
    bool is_refused = false;              ///< home refused the last write, and that was reported
  };

  /// What was reported of a copy as the provider stores it.
  struct CopyReported {
    std::map<std::string_view, Reported> notes;  ///< by what they are about
    std::optional<kube::TimePoint> waits_since;  ///< for an address
    bool is_looked_at = false;                   ///< it has waited for long, and a look at the copy has begun
    bool is_unserved = false;                    ///< that it waits was reported
  };

  std::set<std::string> referring;           ///< objects whose references were passed on
  std::map<std::string, Reported> reported;  ///< the reports that copies lack something
  /// Objects that are never reflected: UID and reason, as reported.
  std::map<std::string, std::string> disabled;
  std::set<std::string> need_pod;                      ///< objects that are copied only while a pod names them
  std::map<std::string, std::string> reported_copied;  ///< their UIDs, once it was reported that they are copied
  /// Objects whose copies lack the annotations of controllers at home, because they were refused with them, and whether
  /// that was reported.
  std::map<std::string, bool> without_notes;
  std::map<std::string, Narrowed> narrowed;
  std::map<std::string, Gathered> gathered;
  std::map<std::string, Addressed> addressed;
  std::map<std::string, CopyReported> copies_reported;
  std::map<std::string, std::string> leads_to;  ///< the namespace at home to which the name in an object leads
  std::map<std::string, std::string> replaced;  ///< UIDs of copies that were removed to be made again, by name
  std::set<std::string> unsure;   ///< names of copies of which it is not known whether their create was carried out
  std::set<std::string> unowned;  ///< names of copies that were made, but could not be given their owner
  /// Copies that others at the provider overwrite, by their names there.
  std::map<std::string, core::reflection::Contest> contests;
  ReflectionCounters counters;  ///< of all objects

  /// Forgets the contests that are over.
  void end_contests(kube::TimePoint now) {
    std::erase_if(contests, [now](const auto& entry) { return entry.second.is_over(now); });
  }

  /// Notes to which namespace the name in an object leads; "" = to none.
  void note_leading(const std::string& name, std::string_view there) {
    if (there.empty())
      leads_to.erase(name);
    else
      leads_to.insert_or_assign(name, std::string(there));
  }

  /// Forgets an object of which nothing is left on either side.
  void forget(const std::string& name, const std::string& remote_name) {
    reported.erase(name);
    gathered.erase(name);
    addressed.erase(name);
    copies_reported.erase(name);
    leads_to.erase(name);
    disabled.erase(name);
    without_notes.erase(name);
    narrowed.erase(name);
    replaced.erase(remote_name);
    unsure.erase(remote_name);
    unowned.erase(remote_name);
    contests.erase(remote_name);
  }
};

}  // namespace liqo::controllers
