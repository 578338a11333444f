#include "controllers/reflection/copy_reports.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "controllers/common/pauses.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using core::reflection::CopyNote;

/// The least time between two looks, if one ends before it comes to the copy.
constexpr kube::Duration rest = 10s;

}  // namespace

void CopyReports::see_wish(const std::string& name, const kube::Object* local) {
  if (!context_.kind.left_out) return;
  const std::string words = local ? context_.kind.left_out(*local, context_.forging) : "";
  const auto known = notes_.reported.find(name);
  if (words.empty()) {
    if (known != notes_.reported.end()) known->second.lacks = false;
    return;
  }
  const kube::TimePoint now = context_.clock.now();
  const bool was_reported =
      known != notes_.reported.end() && (known->second.lacks || now - known->second.at < report_again_after);
  if (!was_reported) context_.events.warning(*local, context_.kind.resource, api::reasons::address_left_out, words);
  notes_.reported[name] = {.at = was_reported ? known->second.at : now, .lacks = true};
}

void CopyReports::see(const kube::Object& local, const kube::Object& copy) {
  if (context_.kind.notes) see_notes(local, copy);
  if (context_.kind.unserved) see_waiting(local, copy);
}

void CopyReports::see_notes(const kube::Object& local, const kube::Object& copy) {
  const std::string name(local.name());
  const std::vector<CopyNote> now_true = context_.kind.notes(local, copy, context_.forging);
  const auto known = notes_.copies_reported.find(name);
  if (known != notes_.copies_reported.end())
    for (auto& [about, reported] : known->second.notes)
      reported.lacks = std::ranges::any_of(now_true, [&about](const CopyNote& note) { return note.about == about; }) &&
                       reported.lacks;
  const kube::TimePoint now = context_.clock.now();
  for (const CopyNote& note : now_true) {
    auto& notes = notes_.copies_reported[name].notes;
    const auto [reported, is_first] = notes.try_emplace(note.about);
    const bool was_reported = !is_first && (reported->second.lacks || now - reported->second.at < report_again_after);
    if (!was_reported) {
      reported->second.at = now;
      if (note.is_warning)
        context_.events.warning(local, context_.kind.resource, api::reasons::copy_differs, note.words);
      else
        context_.events.normal(local, context_.kind.resource, api::reasons::copy_differs, note.words);
    }
    reported->second.lacks = true;
  }
}

void CopyReports::see_waiting(const kube::Object& local, const kube::Object& copy) {
  const std::string name(local.name());
  const auto known = notes_.copies_reported.find(name);
  const std::string words = context_.kind.unserved(local, copy, context_.forging);
  if (words.empty()) {
    if (known == notes_.copies_reported.end()) return;
    known->second.waits_since.reset();
    known->second.is_looked_at = false;
    return;
  }
  ObjectNotes::CopyReported& state = notes_.copies_reported[name];
  if (!state.waits_since) state.waits_since = context_.clock.now();
  if (state.is_unserved || context_.clock.now() < *state.waits_since + core::reflection::address_patience) return;
  state.is_unserved = true;
  context_.events.warning(local, context_.kind.resource, api::reasons::no_remote_address, words);
}

bool CopyReports::is_due(const ObjectNotes::CopyReported& known) const {
  return known.waits_since && !known.is_looked_at && !known.is_unserved &&
         context_.clock.now() >= *known.waits_since + core::reflection::address_patience;
}

bool CopyReports::begin_if_due(const std::string& name) {
  const auto known = notes_.copies_reported.find(name);
  if (known == notes_.copies_reported.end() || !is_due(known->second)) return false;
  known->second.is_looked_at = true;
  return true;
}

kube::Outcome CopyReports::with_next_look(const std::string& name, kube::Outcome outcome) const {
  const auto known = notes_.copies_reported.find(name);
  if (known == notes_.copies_reported.end() || outcome.failure() || outcome.delay()) return outcome;
  const ObjectNotes::CopyReported& state = known->second;
  if (!state.waits_since || state.is_looked_at || state.is_unserved) return outcome;
  return kube::Outcome::again_after(
      std::max(*state.waits_since + core::reflection::address_patience - context_.clock.now(), rest));
}

}  // namespace liqo::controllers
