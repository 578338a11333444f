// Reports a provider's Warnings about copies at home.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controllers/common/context.hpp"
#include "core/reflection/copy_warnings.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Lists the Warnings of each twin that has copies, except those about pods, every 20 s or so: one request for all
/// kinds and copies, because API servers read Events from etcd. Nothing is listed for a twin without copies. A new
/// Warning about a copy becomes an Event `RemoteWarning` of its object, unless it was reported, or had happened, before
/// this process began to lead. One thread.
class CopyEvents {
 public:
  /// The object at home of a copy.
  struct Original {
    kube::Resource resource;
    std::string name;
  };
  struct Found {
    bool is_known = true;              ///< false: ask again in a moment
    std::optional<Original> original;  ///< nothing = the warning is about no copy of ours
  };
  struct Source {
    kube::Api& provider;
    std::string cluster;  ///< the provider
    /// Whether the twin of a namespace has copies whose Events may be reported.
    std::function<bool(const std::string& local)> has_copies;
    /// Finds the copy in the twin of a namespace that a warning is about.
    std::function<Found(const std::string& local, const core::reflection::CopyWarning& warning)> find;
  };

  CopyEvents(Source source, Context context);

  void start_namespace(const std::string& local, const std::string& remote);
  void stop_namespace(const std::string& local);
  /// Looks at the twin of a namespace, because it has a copy now, or may get one.
  void end_quiet(const std::string& local);
  /// Looks until cancelled: while this process leads.
  asio::awaitable<void> run() { return controller_.run(); }

 private:
  struct Twin {
    std::string remote;
    std::optional<core::reflection::CopyWarnings> warnings;  ///< since the first look
    std::optional<kube::TimePoint> no_right_until;           ///< the provider refuses
    bool is_quiet = false;                                   ///< it has no copies
  };
  using Shared = std::shared_ptr<Twin>;  ///< it may be removed while a coroutine uses it

  asio::awaitable<kube::Outcome> look(kube::WorkKey key);
  /// Reports a warning; false = it could not be reported yet.
  asio::awaitable<bool> report(std::string local, Shared twin, core::reflection::CopyWarning warning);
  asio::awaitable<kube::Result<Found>> find_claim(std::string remote, core::reflection::CopyWarning warning);
  void begin();
  bool is_current(const std::string& local, const Shared& twin) const;

  Source source_;
  Context context_;
  kube::WallTime begun_{};               ///< when this process began to lead, in full seconds, as Events have them
  std::map<std::string, Shared> twins_;  ///< by local namespace
  kube::Controller controller_;
  kube::Log log_;
};

}  // namespace liqo::controllers
