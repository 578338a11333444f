// Values of a chart, merged as Helm does: the chart's own, files, and --set. Pure.
#pragma once

#include <string_view>

#include "kube/base/json.hpp"

namespace liqoctl::chart {

/// Puts "a.b.c=value" into a tree of values, as Helm's --set does. null, booleans and whole numbers become such values,
/// {a,b} is a list, `\.` is a dot inside a name, and commas separate several assignments. Errors: Errc::invalid_input.
kube::Result<void> set_value(kube::json::object& values, std::string_view assignment, bool as_string = false);

/// Puts one tree of values over another: maps are merged, everything else is replaced.
void overlay(kube::json::object& values, const kube::json::object& over);

/// The user's values, with the chart's defaults for all others. null removes a default.
kube::json::object with_defaults(kube::json::object given, const kube::json::object& defaults);

}  // namespace liqoctl::chart
