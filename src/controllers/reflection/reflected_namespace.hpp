// One namespace whose objects of one kind are reflected, and its twin.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "controllers/reflection/home_objects.hpp"
#include "controllers/reflection/namespace_queue.hpp"
#include "controllers/reflection/object_notes.hpp"
#include "controllers/reflection/twin_objects.hpp"

namespace liqo::reflector {

/// Copies are compared after a time between these two, so that one that somebody changed is right again within 30 s.
inline constexpr kube::Duration check_after = std::chrono::seconds(17), check_before = std::chrono::seconds(23);

/// When a namespace was read, and is to be looked at again.
struct ReadingState {
  bool was_read = false;                   ///< both sides, since this process leads
  std::optional<kube::TimePoint> read_by;  ///< it waits for others, no longer than until then
  bool is_waiting = false;                 ///< it is told when it no longer has to wait
  kube::TimePoint compared_at{};           ///< when both sides were read, or its copies compared, last
  std::optional<kube::TimePoint> late_at;  ///< when its copies are compared once, whether there are any or not
  bool is_quiet = false;                   ///< it is looked at rarely
  kube::Duration soon{};  ///< until the copies are compared again, where that is to be soon; 0 = it is not
};

/// Knows both sides of a namespace, and has its objects looked at when something that decides about them changes. What
/// is done then is in NamespaceLook and ReflectedObject, which hold it by a shared_ptr: it may be stopped while
/// something of it is awaited. One thread.
class ReflectedNamespace {
 public:
  /// Of the namespace `local` at home, whose twin is `remote`. `context` and `controller` outlive it.
  ReflectedNamespace(const std::string& local, const std::string& remote, NamespaceContext& context,
                     kube::Controller& controller);

  HomeObjects& home() { return home_; }
  TwinObjects& twin() { return twin_; }
  NamespaceQueue& queue() { return queue_; }
  ObjectNotes& notes() { return notes_; }
  ReadingState& reading() { return reading_; }
  /// Counts the changes of what is wished, other than by a change of an object at home.
  std::uint64_t wishes() const { return wishes_; }

  /// Whether it is still reflected to this twin.
  bool is_current() const { return is_current_; }
  /// Its reflection has ended: nothing more is written of it.
  void stop() { is_current_ = false; }
  /// Forgets what is known of both sides, and has them read anew: another process may have led meanwhile.
  void start_reading();
  /// Takes back the references that were told, because nothing is reflected any more or this process leads no longer.
  void take_back_references();

  /// Makes the namespace due, also for a reconsideration that was asked for; `with_objects`: and all its objects.
  void wake(bool with_objects) const;
  /// Makes all objects due.
  void add_all() const;
  /// Considers the objects anew, spread over that time: something else than a change at home concerns them.
  void reconsider(kube::Duration spread);
  /// Makes all objects due whose reconsideration was asked for.
  void consider_all();
  /// Something has happened to copies, of which more is to come home: compares them soon.
  void look_soon();
  /// Looks anew at what comes home of the copies.
  void gather_anew();

  /// Whether nothing is copied, and nothing is wanted, but what every namespace has by itself.
  bool is_quiet() const;
  /// Has a twin that was quiet looked at.
  void end_quiet();

  /// Which objects others refer to; `all`: every object counts as one of them, but under an AllowList.
  void set_references(const std::set<std::string>& names, bool all);
  /// No longer all objects are wanted: pods may come back for what they use, or need it until they have gone.
  void keep_copies();
  /// Nothing of an object is left on either side.
  void forget(const std::string& name, const std::string& remote_name);

 private:
  NamespaceContext& context_;
  HomeObjects home_;
  TwinObjects twin_;
  NamespaceQueue queue_;
  ObjectNotes notes_;
  ReadingState reading_;
  bool is_current_ = true;
  std::uint64_t wishes_ = 0;
  bool is_reconsidered_ = false;  ///< it is about to be
  kube::TimePoint reconsidered_at_{};
};

}  // namespace liqo::reflector
