// What the sources of Reflector share.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "controllers/common/pauses.hpp"
#include "controllers/reflection/contents.hpp"
#include "controllers/reflection/reflector.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::reflector {

/// How long a copy stays when nothing refers to its object any more.
inline constexpr kube::Duration reference_grace = std::chrono::minutes(5);

/// Copies are compared after a time between these two, so that one that somebody changed is right again within 30 s.
inline constexpr kube::Duration check_after = std::chrono::seconds(17), check_before = std::chrono::seconds(23);
/// The same for the copies of a quiet twin. Thousands of twins are quiet and begin together: their looks are spread
/// over some minutes.
inline constexpr kube::Duration quiet_after = std::chrono::seconds(180), quiet_before = std::chrono::seconds(345);
/// The pause before copies are compared where more is to come home of one that has changed.
inline constexpr kube::Duration first_look = std::chrono::seconds(2);
/// The pause between two writes at home of what has come of one copy, where only home has changed the object.
inline constexpr kube::Duration gathering_rest = std::chrono::seconds(10);

/// What of an object may come from its copy, and its generation, of which that may speak, by their digest.
std::string gathered_digest(const kube::Object& local);

/// Whether it bears what our copies do, and those of the Go version do not.
inline bool is_marked(const kube::Object& copy) { return copy.has_annotation(api::annotations::reflected_digest); }

/// One object, while it is looked at.
struct Reflector::Looked {
  std::string name, remote_name;
  bool is_at_home = false;   ///< as far as is known, and to be reflected
  std::uint64_t source = 0;  ///< its version there
  std::optional<kube::Object> local, wanted, remote;
  bool is_wanted = false;    ///< also once `wanted` has been handed on
  std::string wish;          ///< the digest of what is wanted; "" = nothing is
  std::uint64_t wishes = 0;  ///< those of the namespace by which it was forged
};

struct Reflector::Namespace {
  Namespace(std::string local_name, std::string remote_name, const kube::Resource& resource, ReflectorContext& context,
            std::size_t& held)
      : local(std::move(local_name)),
        remote(std::move(remote_name)),
        copies(context.stores, resource, remote),
        at_home(held),
        there(held, context.provider.account()) {}

  std::string local, remote;
  Copies copies;
  Contents at_home, there;                 ///< by the name of the object, and of the copy
  bool was_read = false;                   ///< both sides, since this process leads
  std::optional<kube::TimePoint> read_by;  ///< it waits for others, no longer than until then
  bool is_waiting = false;                 ///< it is told when it no longer has to wait
  kube::TimePoint compared_at{};           ///< when both sides were read, or its copies compared, last
  std::optional<kube::TimePoint> late_at;  ///< when its copies are compared once, whether there are any or not
  /// Of a kind that is not watched at home: what is there, and whether it is annotated to be reflected.
  struct Listed {
    std::uint64_t version = 0;
    bool allowed = false;
  };
  std::map<std::string, Listed> listed;
  std::uint64_t listed_at = 0;  ///< the newest version of home by which that is known
  /// Of a kind that is reflected only then: what is referred to, and until when it counts as such; nothing = it is now.
  std::map<std::string, std::optional<kube::TimePoint>> referred;
  bool all_wanted = false;  ///< of such a kind: every object is, whether anything refers to it or not
  /// Of such a kind: copies that were found when the twin was read, or were there when no longer all were wanted, stay
  /// until then, whatever refers to them. They are a provider's word, and have nothing read at home, or written.
  std::map<std::string, kube::TimePoint> found;
  std::set<std::string> referring;  ///< objects whose references were told
  struct Told {
    kube::TimePoint at{};
    bool lacks = false;
  };
  std::map<std::string, Told> told;  ///< that copies lack something
  /// Of objects that are never reflected: UID and words, as told.
  std::map<std::string, std::string> disabled;
  /// Objects whose copies go without the notes of controllers of home, because with them they were refused, and whether
  /// that was told.
  std::map<std::string, bool> without_notes;
  /// Of a kind with a pace: when an object was last looked at for its copy.
  std::map<std::string, kube::TimePoint> looked_at;
  std::uint64_t wishes = 0;      ///< changes of what is wished, other than by a change of an object at home
  bool is_reconsidered = false;  ///< it is about to be
  kube::TimePoint reconsidered_at{};
  std::map<std::string, std::string> replaced;  ///< UID of what was removed to be made again, by name of the copy
  std::set<std::string> unsure;                 ///< copies that were to be made, and it is not known whether they were
  /// What has come home of a copy last: the digest of it as home has it, and when that was written.
  struct Gathered {
    std::string digest;
    std::optional<kube::TimePoint> at;
    std::optional<kube::TimePoint> told;  ///< when it was told last that it cannot be written
    std::optional<kube::TimePoint> turn;  ///< when the next write at home may be made, which is taken already
    std::size_t turn_bytes = 0;           ///< so many
  };
  std::map<std::string, Gathered> gathered;
  bool is_quiet = false;  ///< it is looked at rarely
  kube::Duration soon{};  ///< until the copies are compared again, where that is to be soon; 0 = it is not
  ReflectionCounters counters;

  /// Nothing of an object is left on either side.
  void forget(const Looked& of) {
    told.erase(of.name);
    gathered.erase(of.name);
    disabled.erase(of.name);
    without_notes.erase(of.name);
    at_home.erase(of.name);
    looked_at.erase(of.name);
    replaced.erase(of.remote_name);
    unsure.erase(of.remote_name);
  }
};

}  // namespace liqo::reflector
