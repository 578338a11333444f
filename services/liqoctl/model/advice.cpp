#include "model/advice.hpp"

#include <algorithm>
#include <filesystem>

#include "kube/base/printable.hpp"

namespace liqoctl::model {
namespace {

constexpr std::size_t max_cause = 200;

/// The end of the API server's text. If the failure has the server's status, nothing follows the text. Otherwise advice
/// may follow, as a sentence or a clause of its own.
std::size_t end_of_answer(const kube::Failure& failure, std::size_t from) {
  if (failure.status()) return failure.text().size();
  return std::min({failure.text().find(". ", from), failure.text().find("; ", from), failure.text().size()});
}

/// The line about a server that could not be connected to; no value for any other failure. Such a failure reads "…: get
/// /api/… in rome: connecting to 10.0.0.1:6443: No route to host…".
std::optional<std::string> unreached(const kube::Failure& failure) {
  constexpr std::string_view connecting = "connecting to ", in = " in ", between = ": ", late = "no answer in time; ";
  if (failure.code() != kube::Errc::connect && failure.code() != kube::Errc::timeout) return std::nullopt;
  const std::string_view said = failure.text();
  const std::size_t at = said.find(connecting);
  if (at == std::string_view::npos || !said.substr(0, at).ends_with(between)) return std::nullopt;
  // The request itself does not matter, because no request would have been answered.
  const std::string_view until_asked = said.substr(0, at - between.size());
  const std::size_t phase = until_asked.rfind(between);
  const std::size_t asked_at = phase == std::string_view::npos ? 0 : phase + between.size();
  const std::size_t name_at = until_asked.rfind(in);
  const std::size_t server_at = at + connecting.size(), why = said.find(between, server_at);
  if (name_at == std::string_view::npos || name_at < asked_at || why == std::string_view::npos) return std::nullopt;
  const std::size_t why_at = why + between.size();
  const std::size_t end = end_of_answer(failure, why_at + (said.substr(why_at).starts_with(late) ? late.size() : 0));
  return std::string(said.substr(0, asked_at)) + "cluster " + std::string(until_asked.substr(name_at + in.size())) +
         " cannot be reached at " + std::string(said.substr(server_at, why - server_at)) +
         ", the server that its kubeconfig names (" + std::string(said.substr(why_at, end - why_at)) +
         "): check that address, and that this machine reaches it" + std::string(said.substr(end));
}

}  // namespace

std::optional<Unreviewed> read_unreviewed(const kube::Failure& failure) {
  constexpr std::string_view error = "Internal error occurred: ";
  const std::string_view said = failure.text();
  const std::size_t at = said.find("failed calling webhook \"");
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t end = end_of_answer(failure, at);
  const std::string_view answer = said.substr(at, end - at);
  // The quoted name is followed by the attempt, with a quoted URL, and then by its result.
  const std::size_t tried = answer.rfind("\": ");
  if (tried == std::string_view::npos || !answer.contains(".liqo.io\"")) return std::nullopt;
  std::string_view before = said.substr(0, at);
  if (before.ends_with(error)) before.remove_suffix(error.size());
  return Unreviewed{.before = std::string(before),
                    .cause = kube::printable(answer.substr(tried + 3).substr(0, max_cause)),
                    .after = std::string(said.substr(end))};
}

std::string unreviewed(const Unreviewed& failed, const Reviewer& reviewer) {
  const auto& [who, ns, alert] = reviewer;
  const std::string cause = " (" + failed.cause + ")";
  std::string what;
  if (!alert.empty()) {
    what = ": it " + alert;
  } else if (who.empty()) {
    what = cause + ": liqoctl check, with the kubeconfig of each, says what is wrong";
  } else if (ns.empty()) {
    what = cause + ": ask its operator whether it runs";
  } else {
    what = cause + ": kubectl get pods -n " + ns + " shows whether it runs there, and liqoctl check what is wrong";
  }
  return failed.before + "liqod of " + (who.empty() ? "one of the two clusters" : who) +
         ", which reviews this request, does not answer" + what + failed.after;
}

std::string advised(const kube::Failure& failure) {
  if (auto line = unreached(failure)) return std::move(*line);
  const std::string& said = failure.text();
  if (said.contains("liqoctl ")) return said;
  // A webhook that refuses gives its own reason, in other words than these.
  if (failure.is_forbidden() && said.contains(" cannot ") && said.contains(" in API group "))
    return said + "; give the kubeconfig of a user who may, or ask an administrator of that cluster for the right";
  // "page not found" means that the kind is unknown: otherwise the API server names the missing object.
  if (failure.is_not_found() && said.contains(".liqo.io/") && said.contains("page not found"))
    return said + "; is Liqo installed there? (liqoctl install --help)";
  return said;
}

std::string unreadable(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed) || failed ? path + " cannot be read" : "there is no file " + path;
}

}  // namespace liqoctl::model
