// Values of a chart, as Helm takes them together: the chart's own, files, and --set. Pure.
#pragma once

#include <string_view>

#include "kube/base/json.hpp"

namespace liqoctl::chart {

/// Puts "a.b.c=value" into a tree of values, as Helm's --set does: null, booleans and whole numbers are such, {a,b} is
/// a list, `\.` is a dot inside a name, several are separated by commas. Errors: Errc::invalid_input.
kube::Result<void> set_value(kube::json::object& values, std::string_view assignment, bool as_string = false);

/// Puts one tree of values over another: maps are merged, all else is replaced.
void overlay(kube::json::object& values, const kube::json::object& over);

/// What the user gives, with the chart's defaults where it says nothing. null takes a default away.
kube::json::object with_defaults(kube::json::object given, const kube::json::object& defaults);

}  // namespace liqoctl::chart
