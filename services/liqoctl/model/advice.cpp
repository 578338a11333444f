#include "model/advice.hpp"

#include <algorithm>
#include <filesystem>

#include "kube/base/printable.hpp"

namespace liqoctl::model {
namespace {

constexpr std::size_t max_cause = 200;

/// Where the API server's words end. Where the failure has its answer, nothing stands behind them; advice begins like a
/// sentence, or a clause of its own.
std::size_t end_of_answer(const kube::Failure& failure, std::size_t from) {
  if (failure.status()) return failure.text().size();
  return std::min({failure.text().find(". ", from), failure.text().find("; ", from), failure.text().size()});
}

}  // namespace

std::optional<Unreviewed> read_unreviewed(const kube::Failure& failure) {
  constexpr std::string_view error = "Internal error occurred: ";
  const std::string_view said = failure.text();
  const std::size_t at = said.find("failed calling webhook \"");
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t end = end_of_answer(failure, at);
  const std::string_view answer = said.substr(at, end - at);
  // Behind the quoted name comes what was tried, with a quoted URL, and then what came of it.
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
  const std::string& said = failure.text();
  if (said.contains("liqoctl ")) return said;
  // A webhook that refuses says itself why, in other words than these.
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
