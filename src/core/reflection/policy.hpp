// Which objects of each kind are reflected, and how many at a time: by options, and by the VkOptionsTemplate over them.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/reflection/kind.hpp"

namespace liqo::core::reflection {

/// How one kind is reflected.
struct KindPolicy {
  SelectionPolicy selection = SelectionPolicy::deny_list;
  int workers = 32;  ///< objects worked on at a time; 0: the kind is not reflected, and its copies stay as they are
  bool operator==(const KindPolicy&) const = default;
};

/// The most workers that an option or a template may ask for.
inline constexpr int max_workers = 1024;

/// The selections that a kind can have: "DenyList", "AllowList", and "All" if a DenyList does not select everything.
std::vector<SelectionPolicy> selections_of(const ReflectedKind& kind);
/// Reads one of these words; nothing if the text is none of them.
std::optional<SelectionPolicy> read_selection(const ReflectedKind& kind, std::string_view text);
/// The word for a selection, as options and templates have it: "DenyList".
std::string_view name_of(SelectionPolicy policy);

/// The name of a kind as options and templates have it: "configmap".
std::string option_name(const ReflectedKind& kind);

/// The policies of all kinds. A kind without a setting has the usual one.
class Policies {
 public:
  /// The policy of a kind: what was set, else the usual one.
  KindPolicy of(const ReflectedKind& kind) const;
  /// Sets the policy of a kind, in place of what was set before.
  void set(const ReflectedKind& kind, KindPolicy policy) { kinds_[option_name(kind)] = policy; }
  bool operator==(const Policies&) const = default;

 private:
  std::map<std::string, KindPolicy, std::less<>> kinds_;
};

/// The policies under a VkOptionsTemplate: its `reflectorsConfig`, and over that the same options among its
/// `extraArgs`.
struct TemplatePolicies {
  Policies policies;
  /// What cannot be read, each a clause. Such a kind is not reflected: what was meant may be less than all.
  std::vector<std::string> mistakes;
  std::vector<std::string> not_followed;  ///< as the function of this name says
  bool operator==(const TemplatePolicies&) const = default;
};
/// Puts the settings of a template over the usual policies. `custom`: the names of custom resources, for which it may
/// set as much as for the kinds of the table.
TemplatePolicies policies_under(const Policies& usual, const kube::Object& options_template,
                                std::span<const std::string> custom = {});

/// What this cluster does whatever a template says.
struct AlwaysDone {
  bool shows_addresses = false;  ///< pods have their addresses, and Services their endpoints
  bool offers_storage = false;   ///< claims of the virtual class get volumes
};
/// The fields of a template that set up a separate virtual kubelet and may be left out.
inline constexpr std::array<std::string_view, 8> fields_of_separate_kubelet = {
    "extraAnnotations", "extraLabels", "imagePullSecrets", "metricsAddress",
    "pullPolicy",       "replicas",    "resources",        "tolerations"};
/// The settings of a template that have no effect here, each a clause. These are kinds that do not exist, those of the
/// Go version that cannot be switched off here, unknown arguments, reserved labels of Nodes, and the settings of a
/// separate virtual kubelet. `policies` are those under the template, with `custom`, the names of further kinds.
std::vector<std::string> not_followed(const kube::Object& options_template, const Policies& policies,
                                      std::span<const std::string> custom, const AlwaysDone& done);
/// Why pods are to have no tokens for the API server at home, a clause: `serviceaccount` has no workers, or what cannot
/// be read, or `--enable-apiserver-support` is false. "" = they may have some.
std::string why_tokens_withheld(const kube::Object& options_template);
/// Why pods are to have no tokens that name an audience of their own, a clause: `serviceaccount` has no workers, or
/// what cannot be read, or `--audience-tokens` is not `always`. "" = they may have some.
std::string why_audience_tokens_withheld(const kube::Object& options_template);
/// Whether pods are to have something of their provider and not of home: the option, `--trust-bundles` or
/// `--pod-certificates`, says anything but `home`.
bool leaves_to_provider(const kube::Object& options_template, const std::string& option);
/// What an Event says of tokens that are withheld for these reasons; "" = none are.
std::string describe_withheld(const std::string& for_api_server, const std::string& by_name);
/// What an Event says of mistakes and of what is not followed; "" = there is neither.
std::string describe_mistakes(const TemplatePolicies& policies);

}  // namespace liqo::core::reflection
