// The lines in CoreDNS' Corefile by which names of Services at home resolve at a provider, put in and taken out.
// Tested by test/unit/liqoctl/model/names/corefile_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// Where CoreDNS of a cluster is configured, if nobody else manages it.
inline constexpr std::string_view corefile_namespace = "kube-system", corefile_map = "coredns",
                                  corefile_key = "Corefile";

/// The lines for a cluster with this DNS domain (`cluster.local`), each with the indent in front. Names under
/// `svc.<consumer>.home.liqo.internal` and `<consumer>.home.liqo.internal` become
/// `<namespace>-<consumer>.svc.<domain>`, also of single pods and of ports; CoreDNS (plugin rewrite, 1.9 and later)
/// puts the asked name into the answer. All other names of the zone become one that the plugin kubernetes denies, so
/// that no query of them leaves the cluster. A probe for liqod resolves, too (core/common/home_names.hpp).
std::string home_names_lines(std::string_view domain, std::string_view indent);

/// A Corefile with changes.
struct ChangedCorefile {
  std::string text;
  std::string domain;    ///< of the cluster, "" if it was not looked for
  bool reloads = false;  ///< CoreDNS reads changes by itself
};

/// Puts the lines in front of the plugin kubernetes, in the place of those of another version. Errors:
/// Errc::invalid_input, with the reason for which the Corefile is left alone: it imports other files, so somebody else
/// keeps it, or no single server block for all names has the plugin kubernetes and a domain.
kube::Result<ChangedCorefile> with_home_names(std::string_view corefile);

/// Takes the lines out, so that the text is what it was before, byte for byte; unchanged if there are none. Errors:
/// Errc::invalid_input if somebody has removed a part of them.
kube::Result<ChangedCorefile> without_home_names(std::string_view corefile);

/// Who would soon undo a change of the ConfigMap, in words; "" = nobody that is known.
std::string who_keeps_corefile(const kube::Object& config_map);

/// The lines that differ, those of `before` with "- " in front and those of `after` with "+ ".
std::string changed_lines(std::string_view before, std::string_view after);

}  // namespace liqoctl::model
