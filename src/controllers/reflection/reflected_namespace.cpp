#include "controllers/reflection/reflected_namespace.hpp"

#include <algorithm>
#include <utility>

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

/// The shortest time between two reconsiderations of all objects of one namespace.
constexpr kube::Duration reconsider_interval = 5s;
/// The pause before copies are compared again, when the status of a changed one is to come home.
constexpr kube::Duration first_look = 2s;

}  // namespace

ReflectedNamespace::ReflectedNamespace(const std::string& local, const std::string& remote, NamespaceContext& context,
                                       kube::Controller& controller)
    : context_(context), home_(local, context), twin_(remote, context), queue_(local, context, controller) {}

void ReflectedNamespace::start_reading() {
  reading_.was_read = false;
  twin_.clear();
  home_.clear();
  reading_.read_by.reset();
  reading_.is_waiting = false;
  // The queue has lost its keys, and a reconsideration with them. All objects are forged again in any case.
  is_reconsidered_ = false;
  queue_.add();
}

void ReflectedNamespace::take_back_references() {
  for (const std::string& name : std::exchange(notes_.referring, {})) context_.on_references(home_.ns(), name, {});
}

void ReflectedNamespace::wake(bool with_objects) const {
  queue_.add();
  if (with_objects) add_all();
  if (is_reconsidered_) queue_.add(std::string(NamespaceQueue::all_objects));
}

void ReflectedNamespace::add_all() const {
  for (std::string& name : home_.names()) queue_.add(std::move(name));
  for (const std::string& name : twin_.copies().names()) queue_.add_copy(name);
}

void ReflectedNamespace::reconsider(kube::Duration spread) {
  ++wishes_;
  if (std::exchange(is_reconsidered_, true)) return;
  // A namespace that changes all the time is reconsidered once in each interval only.
  const kube::Duration rest = reconsidered_at_ + reconsider_interval - context_.clock.now();
  queue_.add_after(std::string(NamespaceQueue::all_objects),
                   std::max({spread, rest, kube::Duration(context_.kind.pace.settle)}));
}

void ReflectedNamespace::reconsider_leading(const std::string& to) {
  for (const auto& [name, there] : notes_.leads_to) {
    if (there != to) continue;
    ++wishes_;
    twin_.copies().doubt_source(context_.kind.remote_name(name, context_.forging));
    queue_.add(name);
  }
}

void ReflectedNamespace::consider_all() {
  is_reconsidered_ = false;
  reconsidered_at_ = context_.clock.now();
  twin_.copies().doubt_sources();
  add_all();
}

void ReflectedNamespace::look_soon() {
  reading_.soon = first_look;
  queue_.add_after({}, first_look);
}

void ReflectedNamespace::gather_anew() {
  if (!context_.kind.gather) return;
  for (const std::string& name : twin_.copies().names()) {
    twin_.copies().doubt(name);
    queue_.add_copy(name);
  }
}

bool ReflectedNamespace::is_quiet() const {
  // A namespace that cannot be read does not keep the reflectors of other kinds busy.
  if (!reading_.was_read) return true;
  return !reading_.late_at && home_.referred().empty() && !home_.referred().takes_all() &&
         twin_.has_constant_copies_alone();
}

void ReflectedNamespace::end_quiet() {
  if (std::exchange(reading_.is_quiet, false)) queue_.add();
}

void ReflectedNamespace::set_references(const std::set<std::string>& names, bool all, std::set<std::string> by_pods) {
  if (!context_.kind.referred_only) return;
  ReferredObjects& referred = home_.referred();
  const bool took_all = referred.takes_all();
  if (referred.want_all(all)) {
    if (took_all && !referred.takes_all()) keep_copies();
    queue_.add();
    reconsider(0s);
  }
  for (const std::string& name : referred.name_by_pods(std::move(by_pods))) {
    if (!notes_.need_pod.contains(name)) continue;
    twin_.copies().doubt_source(context_.kind.remote_name(name, context_.forging));
    queue_.add(name);
  }
  const bool was_idle = referred.empty();
  for (const std::string& name : names)
    if (referred.add(name)) queue_.add(name);
  // The next look was to come at the pace of a namespace that nothing refers to.
  if (was_idle && !referred.empty()) queue_.add_after({}, context_.random.between(check_after, check_before));
  for (const std::string& name : referred.leave(names)) queue_.add_after(name, ReferredObjects::grace);
}

void ReflectedNamespace::keep_copies() {
  for (const std::string& name : twin_.copies().names())
    if (std::string local = context_.kind.local_name(name, context_.forging); !local.empty())
      home_.referred().keep(std::move(local));
}

void ReflectedNamespace::forget(const std::string& name, const std::string& remote_name) {
  notes_.forget(name, remote_name);
  home_.drop_text(name);
  queue_.forget(name);
}

}  // namespace liqo::controllers
