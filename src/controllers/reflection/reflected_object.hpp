// One look at an object at home and its copy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "controllers/reflection/reflected_namespace.hpp"

namespace liqo::reflector {

/// Brings the copy of one object in line. It lives as long as its look is awaited. One thread.
class ReflectedObject {
 public:
  /// `name`: of the object at home. `context` outlives it.
  ReflectedObject(std::shared_ptr<ReflectedNamespace> ns, NamespaceContext& context, std::string name)
      : ns_(std::move(ns)), context_(context), name_(std::move(name)) {}
  ReflectedObject(const ReflectedObject&) = delete;
  ReflectedObject& operator=(const ReflectedObject&) = delete;

  /// Reads what is needed of both sides, and does what the plan says. Once for each ReflectedObject.
  asio::awaitable<kube::Outcome> bring_in_line();

 private:
  /// Begins the look, and ends it where neither side has to be read: with that Outcome. Nothing = the look goes on.
  std::optional<kube::Outcome> end_without_reading();
  /// Sets the copy that is wanted of the object, by what is known now.
  void forge();
  /// Ends the look where the copy is known to be what is wanted: notes the version of its source, or waits until what
  /// comes home may be compared again. Nothing = the look goes on.
  std::optional<kube::Outcome> end_if_as_wished();
  asio::awaitable<kube::Outcome> carry_out(reflection::ReflectionPlan plan);
  /// Ends the look at an object whose copy is neither written nor removed; `kept`: the plan is to keep it.
  asio::awaitable<kube::Outcome> leave(bool kept);
  asio::awaitable<kube::Outcome> take_away(reflection::reflection_action::Remove remove);
  /// For how long a copy that is not wanted stays, of a kind that is reflected where something refers to it; nothing =
  /// it may go.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> stays_for_now();
  /// Notes that the copy that was read needs nothing.
  void settle();
  /// Tells which Secrets the object refers to, if it is wanted.
  void tell_references();
  /// Tells once what the copy lacks of the object, if that is wanted.
  void tell_left_out();
  /// Tells once why the object is never reflected; "" = there is nothing to tell.
  void tell_disabled(const std::string& message);

  std::shared_ptr<ReflectedNamespace> ns_;
  NamespaceContext& context_;
  std::string name_, remote_name_;
  bool is_at_home_ = false;   ///< as far as is known, and to be reflected
  std::uint64_t source_ = 0;  ///< its version there
  std::optional<kube::Object> local_, wanted_, remote_;
  bool is_wanted_ = false;    ///< also once `wanted_` has been handed on
  std::string wish_;          ///< the digest of what is wanted; "" = nothing is
  std::uint64_t wishes_ = 0;  ///< those of the namespace by which it was forged
};

}  // namespace liqo::reflector
