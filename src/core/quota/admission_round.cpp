#include "core/quota/admission_round.hpp"

#include <utility>

namespace liqo::core {
namespace {

/// The most POSTs of one pod on their way into storage: the first, and one that repeats it.
constexpr int max_repeated = 2;

/// A record may grow by this much when its floor gets more digits.
constexpr std::size_t floor_digits = 20;

}  // namespace

std::string_view word_for(QuotaRefusal reason) {
  switch (reason) {
    case QuotaRefusal::no_quota:
      return "no_quota";
    case QuotaRefusal::unreadable:
      return "unreadable";
    case QuotaRefusal::withdrawn:
      return "withdrawn";
    case QuotaRefusal::malformed:
      return "malformed";
    case QuotaRefusal::cordoned:
      return "cordoned";
    case QuotaRefusal::drained:
      return "drained";
    case QuotaRefusal::enforcement:
      return "enforcement";
    case QuotaRefusal::no_room:
      break;
  }
  return "no_room";
}

QuotaVerdict QuotaVerdict::held_back(const kube::ObjectKey& quota) {
  return {.ruling = Ruling::held_back,
          .text = "quota " + quota.text() +
                  ": liqod does not know yet that an API server asks, and has no more for such callers; ask again in a "
                  "moment",
          .reason = {}};
}

QuotaStanding read_standing(const api::Quota& quota, Counting counting) {
  const kube::ObjectKey key = quota.object().key();
  QuotaStanding standing{.state = {.quota = key, .hard = {}, .used = {}},
                         .closed = {},
                         .enforcement = parse_enforcement(quota.enforcement()),
                         .counting = counting};
  const std::string name = "quota " + key.text();
  auto amounts = read_resources(quota.resources());
  if (amounts) standing.state.hard = std::move(*amounts);
  if (!amounts)
    standing.closed = QuotaVerdict::refused(name + " is malformed: " + amounts.error().text(), QuotaRefusal::malformed);
  else if (quota.is_drained())
    standing.closed = QuotaVerdict::refused(
        name + " is drained: the provider takes no new pods, and those that run end", QuotaRefusal::drained);
  else if (quota.is_cordoned())
    standing.closed = QuotaVerdict::refused(name + " is cordoned: the provider takes no new pods; those that run go on",
                                            QuotaRefusal::cordoned);
  return standing;
}

void AdmissionRound::OnItsWay::add(const Reservation& more) {
  core::add(demand, more.demand);
  ++count;
  if (!more.unproven) ++proven;
}

AdmissionRound::AdmissionRound(QuotaStanding standing, LedgerRecord record, std::size_t bytes)
    : standing_(std::move(standing)), record_(std::move(record)), bytes_(bytes) {
  for (const auto& [key, reservation] : record_.reservations) {
    if (!reservation.grows()) on_their_way_[reservation.pod].add(reservation);
    if (reservation.unproven) unproven_.add(reservation.demand);
  }
}

AdmissionRound::Decision AdmissionRound::decide(const QuotaQuestion& question, Known known) {
  const Reservation& wanted = question.reservation;
  // A resize to less passes also in a Quota that is cordoned or drained.
  const bool needs_room = !wanted.grows() || !wanted.demand.empty();
  const bool is_reserved = record_.reservations.contains(question.key);
  const bool in_doubt = is_reserved && known.is_doubtful;
  if (!in_doubt && (is_reserved || (needs_room && known.is_stored))) return {};
  if (auto refusal = refuse_form(question, needs_room)) return {.verdict = std::move(*refusal), .basis = Basis::look};
  if (!needs_room) return {.verdict = {}, .basis = Basis::look};

  const OnItsWay first = wanted.grows() ? OnItsWay() : on_their_way_[wanted.pod];
  // Unproven requests do not hold up those of an API server.
  if (!in_doubt && (question.claimant.proven ? first.proven : first.count) >= max_repeated)
    return {.verdict = ask_again_for(question)};
  const bool is_large = !in_doubt && is_beyond_unproven_share(question);
  if (is_large && !may_be_large(question)) return {.verdict = QuotaVerdict::held_back(standing_.state.quota)};
  if (in_doubt) {
    QuotaState others = standing_.state;
    subtract(others.used, wanted.demand);
    if (!refuse_demand(others, wanted.demand).empty()) return refuse_room(question, others, {});
    return {.verdict = {}, .basis = Basis::look};
  }
  if (!refuse_demand(standing_.state, wanted.demand).empty()) return refuse_room(question, standing_.state, first);
  if (question.dry_run) return {.verdict = {}, .basis = Basis::look};
  if (!has_space(question.bytes))
    return {.verdict = QuotaVerdict::unavailable(
                "quota " + standing_.state.quota.text() +
                ": its record is full: too many admitted pods have not been stored yet; ask again")};
  reserve(question, is_large);
  return {.verdict = {}, .basis = Basis::write, .is_large = is_large};
}

std::optional<QuotaVerdict> AdmissionRound::refuse_form(const QuotaQuestion& question, bool needs_room) const {
  if (standing_.closed && needs_room) return standing_.closed;
  if (auto problem = check_enforcement(question.needs, standing_.enforcement, standing_.counting))
    return QuotaVerdict::refused(*problem + " (quota " + standing_.state.quota.text() + ")", QuotaRefusal::enforcement);
  return std::nullopt;
}

bool AdmissionRound::is_beyond_unproven_share(const QuotaQuestion& question) const {
  return !question.claimant.proven && (!is_within_share(unproven_, question.reservation.demand, standing_.state.hard) ||
                                       question.bytes > max_unproven_bytes);
}

bool AdmissionRound::may_be_large(const QuotaQuestion& question) const {
  return !has_large_ && question.claimant.may_be_large && standing_.may_be_large &&
         !is_beyond_share(unproven_, standing_.state.hard);
}

AdmissionRound::Decision AdmissionRound::refuse_room(const QuotaQuestion& question, const QuotaState& state,
                                                     const OnItsWay& first) const {
  const Resources& demand = question.reservation.demand;
  const auto fits_without = [&](const Resources& held) {
    QuotaState without = state;
    subtract(without.used, held);
    return refuse_demand(without, demand).empty();
  };
  const Claimant& claimant = question.claimant;
  if (first.count > 0 && fits_without(first.demand)) return {.verdict = ask_again_for(question)};
  if (claimant.proven && unproven_.reservations > 0 && fits_without(unproven_.demand))
    return {.verdict = QuotaVerdict::unavailable(
                "quota " + state.quota.text() +
                ": what is free of it is held for pods on their way into storage; ask again in a moment")};
  return {.verdict = QuotaVerdict::refused(refuse_demand(state, demand, claimant.proven), QuotaRefusal::no_room),
          .basis = Basis::look};
}

bool AdmissionRound::has_space(std::size_t more) {
  // `bytes_` counts dropped reservations as well, so the record is measured once before it is called full.
  if (bytes_ + more + floor_digits > max_ledger_bytes && !std::exchange(is_exact_, true))
    bytes_ = record_.text().size();
  return bytes_ + more + floor_digits <= max_ledger_bytes;
}

void AdmissionRound::reserve(const QuotaQuestion& question, bool is_large) {
  const Reservation& wanted = question.reservation;
  bytes_ += question.bytes;
  add(standing_.state.used, wanted.demand);
  record_.reservations[question.key] = wanted;
  if (!wanted.grows()) on_their_way_[wanted.pod].add(wanted);
  if (wanted.unproven) unproven_.add(wanted.demand);
  has_large_ = has_large_ || is_large;
}

QuotaVerdict AdmissionRound::ask_again_for(const QuotaQuestion& question) const {
  return QuotaVerdict::unavailable("pod " + question.reservation.pod.text() +
                                   " is on its way into storage by an earlier request; ask again");
}

}  // namespace liqo::core
