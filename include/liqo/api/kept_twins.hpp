// Annotations of a NamespaceMap at home about twins that its provider keeps against our wish.
#pragma once

#include <string_view>

// Ours alone; the Go version ignores them, and they are not replicated.
namespace liqo::api::annotations {

/// On a NamespaceMap at home: the namespaces whose twins stay because they hold data, separated by commas.
inline constexpr std::string_view holds_data = "offloading.liqo.io/holds-data";
/// On a NamespaceMap at home: those of the namespaces in `holds_data` whose data an administrator gives up, separated
/// by commas.
inline constexpr std::string_view gives_up = "offloading.liqo.io/gives-up";

}  // namespace liqo::api::annotations
