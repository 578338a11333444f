// Which of the custom resources to be reflected both this cluster and one provider serve.
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

/// Asks both API servers again and again, so that it finds a definition or a right that comes later, and notices one
/// that goes. An outage changes nothing. One thread.
class CustomKinds {
 public:
  /// What is known of one custom resource.
  struct Finding {
    const reflection::ReflectedKind* kind = nullptr;  ///< null: it is not reflected
    std::string trouble;                              ///< why, or what of it is not; a clause, "" = nothing
    bool is_sure = true;                              ///< false: no twin has answered what the rights are
    bool is_permitted = true;                         ///< false: a twin has answered that there is none
    bool operator==(const Finding&) const = default;
  };

  /// `provider` outlives it. `twins` answers the twin namespaces there, which is where rights are given. `changed` is
  /// called when findings change, and must not suspend.
  CustomKinds(kube::Api& provider, Context context, std::function<std::vector<std::string>()> twins,
              std::function<void()> changed);

  /// Looks until cancelled. Ends at once where nothing is configured.
  asio::awaitable<void> run();
  /// How all of them are reflected, for people.
  core::CustomState state() const;
  /// By the name of the resource; those that have been looked at.
  const std::map<std::string, Finding>& findings() const { return findings_; }

 private:
  /// Nothing: an API server gave no answer that can be understood.
  asio::awaitable<std::optional<Finding>> look(reflection::CustomResource resource);
  /// How one cluster serves a resource: in which versions, and what it is in each.
  struct Served {
    std::vector<std::string> versions;
    std::vector<reflection::ServedResource> by_version;
    const reflection::ServedResource* find(std::string_view version) const;
  };
  asio::awaitable<std::optional<Served>> served(kube::Api& api, reflection::CustomResource resource);
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
