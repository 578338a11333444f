// One look at an object at home and its copy.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/reflection/reflected_namespace.hpp"

namespace liqo::controllers {

/// Reconciles the copy of one object. It lives as long as its look is awaited. One thread.
class ReflectedObject {
 public:
  /// `name`: the name of the object at home. `context` outlives it.
  ReflectedObject(std::shared_ptr<ReflectedNamespace> ns, NamespaceContext& context, std::string name)
      : ns_(std::move(ns)), context_(context), name_(std::move(name)) {}
  ReflectedObject(const ReflectedObject&) = delete;
  ReflectedObject& operator=(const ReflectedObject&) = delete;

  /// Reads what is needed of both sides, and carries out the plan. Once for each ReflectedObject.
  asio::awaitable<kube::Outcome> bring_in_line();

 private:
  /// `bring_in_line`, but for a narrowed copy not when the whole one is tried again.
  asio::awaitable<kube::Outcome> look();
  /// Begins the look. Returns its Outcome if neither side has to be read; nothing = the look goes on.
  std::optional<kube::Outcome> end_without_reading();
  /// Corrects a copy that names a former twin as its owner, before Kubernetes removes it for that, or that could not be
  /// given an owner when it was made.
  asio::awaitable<kube::Result<void>> repair_owner();
  /// Forges the wanted copy of the object, from what is known now.
  void forge();
  /// Ends the look if the copy is known to be as wanted: notes the version of its source, or waits until its status may
  /// be compared again. Nothing = the look goes on.
  std::optional<kube::Outcome> end_if_as_wished();
  /// Ends the look if the copy is left as somebody at the provider has overwritten it. Nothing = the plan is carried
  /// out.
  std::optional<kube::Outcome> leave_to_others(const core::reflection::ReflectionPlan& plan);
  /// How a look ends that had nothing to do: when a copy that was given up is looked at again.
  kube::Outcome next_look() const;
  /// Reports that the copy is left to that field manager from now on.
  void report_given_up(const std::string& manager);
  asio::awaitable<kube::Outcome> carry_out(core::reflection::ReflectionPlan plan);
  /// Writes the copy of an object that is copied only while a pod names it.
  asio::awaitable<kube::Outcome> copy_for_pods(core::reflection::reflection_action::Apply apply);
  /// Ends the look at an object whose copy is neither written nor removed; `kept`: the plan is to keep it.
  asio::awaitable<kube::Outcome> leave(bool kept);
  /// Shows at home which addresses the copy has. Returns the version of the object then, or the Outcome that ends the
  /// look.
  asio::awaitable<std::expected<std::uint64_t, kube::Outcome>> show(std::vector<std::string> addresses);
  asio::awaitable<kube::Outcome> take_away(core::reflection::reflection_action::Remove remove);
  /// How long an unwanted copy stays, of a kind that is reflected only if something refers to it; nothing = it may be
  /// removed.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> stays_for_now();
  /// Notes that the copy that was read needs no change.
  void settle();
  /// Passes on to which Secrets the object refers, if it is wanted.
  void report_references();
  /// Reports once that an object was copied that is copied only while a pod names it.
  void report_copied(const kube::Object& local);
  /// Reports once why the object is never reflected; "" = nothing to report.
  void report_disabled(const std::string& message);

  std::shared_ptr<ReflectedNamespace> ns_;
  NamespaceContext& context_;
  std::string name_, remote_name_;
  bool is_at_home_ = false;   ///< it exists at home, as far as is known, and is to be reflected
  std::uint64_t source_ = 0;  ///< its version at home
  std::optional<kube::Object> local_, wanted_, remote_;
  bool needs_pod_ = false;    ///< it is copied only while a pod names it
  bool is_wanted_ = false;    ///< also after `wanted_` has been moved out
  std::string wish_;          ///< the digest of the wanted copy; "" = none is wanted
  std::uint64_t wishes_ = 0;  ///< ReflectedNamespace::wishes() when it was forged
};

}  // namespace liqo::controllers
