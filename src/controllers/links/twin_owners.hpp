// The owner references of what is written into the twins of one provider.
// Tested by test/unit/controllers/reflection/owned_copy_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/namespaces/namespace_mapping.hpp"
#include "kube/async/event.hpp"
#include "kube/client/api.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/telemetry/log.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// Knows the UID of each twin Namespace, which all virtual nodes of a provider and all reflected kinds share.
///
/// Guarantees: a UID is read from the provider when it is first needed after the twin was accepted, again after any
/// sign that the twin was made anew, and after ten minutes. One read is under way at a time for a twin. What was read
/// before the mapping changed is not used. A provider that gives no right to read a twin, or does not check owners, is
/// asked once more after 10 s, from then on once an hour, and reported once by a log line.
///
/// Failures: those that pass, and with which the write that follows would fail, too. A refusal means that there is no
/// owner, so that reflection does not depend on it.
///
/// Lifetime: outlives what awaits it. One thread.
class TwinOwners {
 public:
  /// `provider` outlives it; `cluster` is the provider's ID.
  TwinOwners(kube::Api& provider, std::string cluster, const kube::Environment& environment);

  /// Has every twin read again, because another process may have led meanwhile.
  void forget();
  /// Forgets the twins that are not accepted any more.
  void set_mapping(const core::NamespaceMapping& mapping);
  /// The owner of what is about to be written into a twin; nothing: it gets none.
  asio::awaitable<kube::Result<std::optional<kube::OwnerReference>>> of(std::string twin);
  /// The owner as of(), but never from memory. It is right even if nobody checks it, for an object that was seen before
  /// this read, if the UID of the object is a precondition of the write.
  asio::awaitable<kube::Result<std::optional<kube::OwnerReference>>> read(std::string twin);
  /// The owner as it was read last; nothing: it is not known, or there is none.
  std::optional<kube::OwnerReference> known(const std::string& twin) const;
  /// Takes in the failure of a write that named `owner`. Returns whether it is due to that name, so that the write is
  /// to be tried again: then with what is read anew, and without an owner if that is the same.
  bool note_failure(const kube::OwnerReference& owner, const kube::Failure& failure);

 private:
  using Owner = std::optional<kube::OwnerReference>;
  /// A read that is under way, for those who wait for it.
  struct Reading {
    explicit Reading(const asio::any_io_executor& executor) : done(executor) {}
    kube::async::Event done;
    std::optional<kube::Result<Owner>> result;  ///< nothing: the mapping has changed meanwhile, or it was cancelled
  };
  struct Twin {
    Owner owner;
    kube::TimePoint trusted_until{};            ///< the owner
    std::optional<kube::TimePoint> none_until;  ///< there is no owner until then
    bool has_none = false;                      ///< the last answer was that there is none
    std::string refused;                        ///< the UID that was refused last, "" = none
    std::shared_ptr<Reading> reading;
  };
  using Shared = std::shared_ptr<Twin>;

  Shared entry(const std::string& name);
  bool is_known(const Twin& twin) const { return twin.owner && environment_.clock.now() < twin.trusted_until; }
  /// Reads the Namespace into the twin; nothing if the mapping has changed meanwhile.
  asio::awaitable<std::optional<kube::Result<Owner>>> read_now(Shared twin, std::string name);
  /// Takes over what a server has answered.
  kube::Result<Owner> take(Twin& twin, const std::string& name, kube::Result<std::optional<kube::Object>> live);
  void report_none(const std::string& name, std::string_view why);

  kube::Api& provider_;
  kube::Environment environment_;
  std::map<std::string, Shared> twins_;
  std::set<std::string> told_;  ///< twins of which it was logged that there is no owner
  kube::Log log_;
};

}  // namespace liqo::controllers
