// The provider's half of namespace extension: the entries of consumers' NamespaceMaps become twin namespaces with
// rights.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "controllers/common/context.hpp"
#include "controllers/common/home_names.hpp"
#include "controllers/common/runnable.hpp"
#include "controllers/namespaces/held_in_twins.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Guarantees: a consumer gets rights only in namespaces that were made for it, and its map shows a namespace only once
/// a ResourceQuota bounds what it holds. A twin that its map does not ask for any more goes, even if the status has
/// forgotten it, because the mark on the namespace counts. Every entry of every map is tried; a failure is reported in
/// the status, and tried again. One thread.
class NamespaceMapController final : public Runnable {
 public:
  /// `names` outlives this.
  NamespaceMapController(HomeNames& names, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  using Entries = std::map<std::string, api::MappedNamespace>;
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// The findings of one reconcile of a map.
  struct Round {
    Entries entries;                           ///< of the status
    std::vector<api::WantedNamespace> wanted;  ///< those that are granted
    std::string failures;                      ///< for the log
    bool waits = false;                        ///< for something that is not counted yet
  };
  /// `tenant_namespace`: null if there is none.
  core::TwinContext twin_context(const kube::ObjectKey& map, std::string origin, const kube::Object* tenant_namespace);
  asio::awaitable<void> ensure_twins(kube::Object map, core::TwinContext ctx, Round& round);
  /// Makes the namespace of a twin if the plan wants it; returns what else is to be done about the twin.
  asio::awaitable<kube::Result<core::TwinPlan>> create_namespace(api::WantedNamespace wanted, core::TwinContext ctx);
  /// Writes the labels, the RoleBinding and the ResourceQuota of a twin; returns whether what it holds is counted.
  asio::awaitable<kube::Result<bool>> furnish_twin(std::string twin, core::TwinContext ctx,
                                                   std::optional<kube::json::object> patch);
  /// The result for one twin.
  struct EnsuredTwin {
    std::optional<api::MappedNamespace> entry = {};  ///< of the status; nothing while there is none to show
    std::string failure = {};                        ///< for the log; "" = none
    bool waits = false;                              ///< for what it holds to be counted
  };
  /// Makes or corrects one twin with its RoleBinding and its ResourceQuota.
  asio::awaitable<EnsuredTwin> ensure_twin(api::WantedNamespace wanted, core::TwinContext ctx,
                                           std::string phase_before);
  /// Returns whether what the twin holds is counted. It is an error, too, if kube-controller-manager has not begun to
  /// count within half a minute.
  asio::awaitable<kube::Result<bool>> ensure_quota(std::string twin, core::TwinContext ctx);
  /// Deletes the twins of the map that are not wanted any more; those that still exist are added to the entries.
  asio::awaitable<void> remove_twins(core::TwinContext ctx, Round& round);
  std::vector<kube::Object> twins_of(const kube::ObjectKey& map) const;
  /// How many twins a consumer has, over all of its maps, and how many are being made.
  std::size_t count_twins(const std::string& consumer) const;
  core::TwinNameRules name_rules(const kube::Object& tenant_namespace, std::string_view consumer) const;
  void enqueue(const kube::ObjectKey& map);
  /// Enqueues the map that the mark on a twin names.
  void enqueue_twin(const std::string& twin);
  void enqueue_marked(std::string_view map_id);

  /// Enqueues the maps of consumers that have a namespace of this name at home, if it is no twin and has come or gone:
  /// names of home lead into it.
  void see_own(const kube::Change& ns);

  Context context_;
  const HomeNames& names_;
  kube::InformerHandle maps_, namespaces_, bindings_, bounds_, grants_;
  HeldInTwins held_;
  std::unordered_map<kube::ObjectKey, kube::TimePoint> looked_at_;  ///< when a map was looked at last
  std::map<std::string, std::size_t> creating_;                     ///< twins on their way to the server, by consumer
  std::map<std::string, std::string> peers_;                        ///< tenant namespace to the peer's ID
  std::map<std::string, std::string> marked_;                       ///< marked namespace to the map that the mark names
  kube::Controller controller_;
};

}  // namespace liqo::controllers
