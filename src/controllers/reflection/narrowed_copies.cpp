#include "controllers/reflection/narrowed_copies.hpp"

#include <algorithm>
#include <utility>

#include "liqo/api/annotations.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using core::reflection::RefusedParts;

constexpr kube::Duration first_pause = 1min, longest_pause = 1h;
/// The least time between two tries if the object keeps changing.
constexpr kube::Duration rest = 10s;

}  // namespace

const ObjectNotes::Narrowed* NarrowedCopies::find(const std::string& name) const {
  const auto found = notes_.narrowed.find(name);
  return found == notes_.narrowed.end() ? nullptr : &found->second;
}

const RefusedParts* NarrowedCopies::refused_of(const std::string& name, const kube::Object& whole,
                                               kube::TimePoint now) const {
  const ObjectNotes::Narrowed* known = find(name);
  if (!known || known->given_up || is_due(name, now)) return nullptr;
  if (whole.annotation(api::annotations::reflected_digest) != known->wish &&
      (!core::reflection::has_refused(whole, known->refused) || now >= known->tried_at + rest))
    return nullptr;
  return &known->refused;
}

bool NarrowedCopies::is_due(const std::string& name, kube::TimePoint now) const {
  const ObjectNotes::Narrowed* known = find(name);
  return known && !known->given_up && now >= known->tried_at + known->pause;
}

kube::Outcome NarrowedCopies::with_next_try(const std::string& name, kube::Outcome outcome, kube::TimePoint now) const {
  const ObjectNotes::Narrowed* known = find(name);
  if (!known || known->given_up || outcome.failure() || outcome.delay()) return outcome;
  // A look that ended before it came to a try, because its namespace is being read, is not repeated at once.
  return kube::Outcome::again_after(std::max(known->tried_at + known->pause - now, rest));
}

bool NarrowedCopies::see_refused(const kube::Object& local, const kube::Object& copy, std::string_view words,
                                 kube::TimePoint now) {
  if (!kind_.may_be_narrowed) return false;
  const std::string name(local.name());
  const auto found = notes_.narrowed.find(name);
  const bool is_known = found != notes_.narrowed.end();
  RefusedParts refused = is_known ? found->second.refused : RefusedParts();
  const bool is_new = core::reflection::add_refused(refused, core::reflection::refused_parts(copy, words));
  if (refused.empty() || !kind_.may_be_narrowed(local, refused)) {
    // A provider that names one key of the whole copy and another one of the narrowed copy is asked with growing
    // pauses.
    if (is_known) {
      found->second.refused = std::move(refused);
      found->second.given_up = true;
    }
    return false;
  }
  // A narrowed copy is no door. One that is refused for nothing new would be sent again and again.
  const bool was_whole = kind_.is_door(copy);
  if (!was_whole && !is_new) return false;
  ObjectNotes::Narrowed& note = notes_.narrowed[name];
  if (was_whole) {
    note.given_up = false;
    note.pause = is_known ? std::min(note.pause * 2, longest_pause) : first_pause;
    note.tried_at = now;
    note.wish = copy.annotation(api::annotations::reflected_digest);
  }
  if (is_new) note.reported = false;
  note.refused = std::move(refused);
  return true;
}

const RefusedParts* NarrowedCopies::see_stored(const std::string& name, const kube::Object& copy) {
  const auto found = notes_.narrowed.find(name);
  if (found == notes_.narrowed.end()) return nullptr;
  if (found->second.given_up || kind_.is_door(copy) || core::reflection::has_refused(copy, found->second.refused)) {
    notes_.narrowed.erase(found);
    return nullptr;
  }
  return std::exchange(found->second.reported, true) ? nullptr : &found->second.refused;
}

}  // namespace liqo::controllers
