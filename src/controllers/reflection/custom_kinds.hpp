// Finds which of the configured custom resources both this cluster and one provider serve.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/common/context.hpp"
#include "core/nodes/node.hpp"
#include "kube/client/api.hpp"

namespace liqo::controllers {

/// Asks both API servers periodically, so that it finds a definition or a right that is added later, and notices one
/// that is removed. An outage changes nothing. One thread.
class CustomKinds {
 public:
  /// The findings about one custom resource.
  struct Finding {
    const core::reflection::ReflectedKind* kind = nullptr;  ///< null: it is not reflected
    std::string trouble;       ///< why it is not reflected, or which part of it; a clause, "" = nothing
    bool is_sure = true;       ///< false: no twin has been asked successfully about the rights
    bool is_permitted = true;  ///< false: in a twin the right is missing
    bool operator==(const Finding&) const = default;
  };

  /// `provider` outlives it. `twins` returns the twin namespaces there, in which rights are granted. `changed` is
  /// called when findings change, and must not suspend.
  CustomKinds(kube::Api& provider, Context context, std::function<std::vector<std::string>()> twins,
              std::function<void()> changed);

  /// Looks until cancelled. Ends at once if nothing is configured.
  asio::awaitable<void> run();
  /// How all custom resources are reflected, for reports.
  core::CustomState state() const;
  /// The findings so far, by the name of the resource.
  const std::map<std::string, Finding>& findings() const { return findings_; }

 private:
  /// Finds out about one resource. Nothing: an API server gave no valid answer.
  asio::awaitable<std::optional<Finding>> look(core::reflection::CustomResource resource);
  /// How one cluster serves a resource: its versions, and the properties of each.
  struct Served {
    std::vector<std::string> versions;
    std::vector<core::reflection::ServedResource> by_version;
    const core::reflection::ServedResource* find(std::string_view version) const;
  };
  asio::awaitable<std::optional<Served>> served(kube::Api& api, core::reflection::CustomResource resource);
  asio::awaitable<std::optional<kube::json::value>> read(kube::Api& api, std::string path);

  kube::Api& provider_;
  Context context_;
  std::function<std::vector<std::string>()> twins_;
  std::function<void()> changed_;
  std::map<std::string, Finding> findings_;
  std::map<std::string, kube::TimePoint> next_;  ///< when a resource is looked at again
  kube::Log log_;
};

}  // namespace liqo::controllers
