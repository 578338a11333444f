// Options of an operator for offloaded namespaces and their twins.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/namespaces/home_names_judge.hpp"
#include "core/namespaces/namespace_selection.hpp"
#include "kube/base/time.hpp"

namespace liqo::controllers {

/// The options of liqod about offloaded namespaces and their twins. A default here is that of the option.
struct NamespaceSettings {
  /// Namespaces that are offloaded as they are made.
  core::NamespaceSelection selected_namespaces;
  /// How long the twin of a namespace stays after a change of labels leaves no virtual node that its selector matches.
  kube::Duration withdrawal_grace = std::chrono::minutes(10);
  /// Patterns of the names that new twins may have, for consumers whose policy has none; unset: their names end in
  /// `-<consumer>`.
  std::optional<std::vector<std::string>> twin_names;
  /// Whether nothing is stored in a twin without the webhooks, which check its owners. No option: it follows from those
  /// of the webhooks.
  bool checks_owners = false;
  /// Asks the name server that pods of this cluster ask, in a way that may be cancelled; unset: never asked, and pods
  /// of consumers do not look up names of their home.
  std::function<boost::asio::awaitable<core::NameLook>(std::string name)> look_up_name;
};

}  // namespace liqo::controllers
