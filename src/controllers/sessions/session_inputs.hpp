// The inputs of a session with a provider: a Secret, options, and addresses of the API server here.
// Tested by test/unit/controllers/sessions/provider_sessions_test.cpp.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/options_templates.hpp"
#include "controllers/sessions/provider_session.hpp"
#include "core/reflection/reflection_filters.hpp"

namespace liqo::controllers {

/// The inputs from which a session is made.
struct SessionInputs {
  kube::Object secret;
  core::reflection::ReflectionFilters left_out;  ///< labels and annotations that its pods do not get at the provider
  std::vector<std::string> addresses;            ///< of the API server here, as the network module gives them
  bool withholds_tokens;                         ///< for the API server here
  bool withholds_audience_tokens;                ///< with another audience
  bool withholds_trust;                          ///< its pods get the trust bundles of the provider
  bool withholds_certificates;                   ///< its pods get those of signers of the provider
  std::string credentials;                       ///< a digest of the Secret
  std::string digest;                            ///< of the VirtualNode and the other inputs
};

/// Why there are no inputs.
struct MissingInputs {
  std::optional<kube::Failure> failure = {};      ///< to be reported; nothing = it may pass, or a session goes on
  std::optional<kube::Duration> look_again = {};  ///< nothing = the change that mends it is notified
};

/// Gathers the inputs of the sessions of VirtualNodes, and learns of their changes. One thread.
class SessionInputsReader {
 public:
  struct Reader {
    /// Called when the inputs of a VirtualNode may have changed. Must not suspend.
    std::function<void(const kube::ObjectKey& virtual_node)> changed;
    /// Called when those of any VirtualNode may have changed. Must not suspend.
    std::function<void()> all_changed;
  };
  SessionInputsReader(Context context, Reader reader);

  /// The inputs for the session of a VirtualNode. One that has a session goes on without its Secret or templates.
  /// Reports it on the VirtualNode if its pods get no tokens from now on.
  std::expected<SessionInputs, MissingInputs> read(const kube::Object& virtual_node, bool has_session);
  /// Forgets a VirtualNode that is gone.
  void forget(const kube::ObjectKey& virtual_node) { entries_.erase(virtual_node); }
  /// What is needed to forge objects for a session that is made from these inputs.
  core::ForgingContext forging_of(const kube::Object& virtual_node, const SessionInputs& inputs) const;

 private:
  struct Entry {
    kube::InformerHandle secret;
    std::string secret_name;
    /// Labels and annotations that its pods do not get at the provider, once these are known.
    std::optional<core::reflection::ReflectionFilters> left_out;
    /// Which tokens the VkOptionsTemplate withholds, and why, as it was reported; "" = none.
    std::string tokens_withheld;
    bool withholds_tokens = false, withholds_audience_tokens = false, withholds_trust = false;
    bool withholds_certificates = false;
  };
  /// Reads the VkOptionsTemplate into the entry. Returns what is missing if it is not known.
  std::optional<MissingInputs> read_options(const kube::Object& virtual_node, Entry& entry, bool has_session);
  /// Takes into the entry which tokens the template, which may be null, withholds, and reports that once.
  void read_withheld_tokens(const kube::Object& virtual_node, const kube::Object* options, Entry& entry);
  /// Addresses that the network module has assigned to the API server here, for pods at a provider that it connects.
  /// None if the settings have an address.
  std::vector<std::string> given_addresses(const kube::Object& virtual_node) const;

  Context context_;
  Reader reader_;
  std::map<kube::ObjectKey, Entry> entries_;
  OptionsTemplates templates_;
  kube::InformerHandle ips_, configurations_;  ///< if `given_addresses` are asked for
};

}  // namespace liqo::controllers
