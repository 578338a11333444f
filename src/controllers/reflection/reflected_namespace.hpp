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

namespace liqo::controllers {

/// Copies are compared after a time between these two, so that a copy that was tampered with is right again within 30
/// s.
inline constexpr kube::Duration check_after = std::chrono::seconds(17), check_before = std::chrono::seconds(23);

/// The times at which a namespace was read, and is to be looked at again.
struct ReadingState {
  bool was_read = false;                   ///< both sides, since this process leads
  std::optional<kube::TimePoint> read_by;  ///< until when it waits for other namespaces at most
  bool is_waiting = false;                 ///< it will be woken when it no longer has to wait
  kube::TimePoint compared_at{};           ///< when both sides were read, or its copies compared, last
  std::optional<kube::TimePoint> late_at;  ///< when its copies are compared once, whether there are any or not
  bool is_quiet = false;                   ///< it is looked at rarely
  kube::Duration soon{};  ///< until the copies are compared again, if that is to be soon; 0 = it is not
};

/// Knows both sides of a namespace, and enqueues its objects when something that decides about them changes.
/// NamespaceLook and ReflectedObject do the work. They hold it by a shared_ptr, because it may be stopped while they
/// await something. One thread.
class ReflectedNamespace {
 public:
  /// `local`: the namespace at home, whose twin is `remote`. `context` and `controller` outlive it.
  ReflectedNamespace(const std::string& local, const std::string& remote, NamespaceContext& context,
                     kube::Controller& controller);

  HomeObjects& home() { return home_; }
  TwinObjects& twin() { return twin_; }
  NamespaceQueue& queue() { return queue_; }
  ObjectNotes& notes() { return notes_; }
  ReadingState& reading() { return reading_; }
  /// Counts the changes of the wishes, other than by a change of an object at home.
  std::uint64_t wishes() const { return wishes_; }

  /// Whether it is still reflected to this twin.
  bool is_current() const { return is_current_; }
  /// Ends its reflection: nothing more is written for it.
  void stop() { is_current_ = false; }
  /// Forgets both sides, and has them read again: another process may have led meanwhile.
  void start_reading();
  /// Withdraws the references that were passed on, because nothing is reflected any more or this process no longer
  /// leads.
  void take_back_references();

  /// Enqueues the namespace, also for a requested reconsideration; `with_objects`: and all its objects.
  void wake(bool with_objects) const;
  /// Enqueues all objects.
  void add_all() const;
  /// Looks at all objects again, spread over that time, because something other than a change at home affects them.
  void reconsider(kube::Duration spread);
  /// Looks again at the objects that lead to another namespace by its name, because that has another twin now, or none.
  void reconsider_leading(const std::string& to);
  /// Enqueues all objects whose reconsideration was requested.
  void consider_all();
  /// Compares copies soon, because some have changed whose status is to come home.
  void look_soon();
  /// Brings the statuses of the copies home again.
  void gather_anew();

  /// Whether no object is copied or wanted except those that every namespace has by itself.
  bool is_quiet() const;
  /// Looks at a twin that is no longer quiet.
  void end_quiet();

  /// Sets which objects others refer to; `all`: every object counts as one of them, except under an AllowList;
  /// `by_pods`: those that pods name themselves.
  void set_references(const std::set<std::string>& names, bool all, std::set<std::string> by_pods);
  /// Keeps copies for a while when no longer all objects are wanted: pods may come back that use them, or need them
  /// until they are gone.
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
  bool is_reconsidered_ = false;  ///< a reconsideration is scheduled
  kube::TimePoint reconsidered_at_{};
};

}  // namespace liqo::controllers
