// Objects for the tests of reflection, and what an API server makes of them.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "core/reflection/home_endpoints.hpp"
#include "core/reflection/kind.hpp"

namespace liqo::core::reflection {

/// Where pods are called 10.200.0.0/16, the host 192.0.2.9 is 10.70.0.1 for the provider, and a pod in a third cluster,
/// 10.62.9.9, is 10.70.0.5.
struct HomeOfTests final : core::reflection::HomeEndpoints {
  std::map<std::string, std::string, std::less<>> services{{"web", ""}};  ///< by name: an annotation that is "true"

  std::string cluster_of(std::string_view node) const override;
  std::optional<core::IpAddress> outward(std::string_view ns, const core::IpAddress& address) const override;
  /// The provider's pods 10.7/16 are shown as 10.107/16, and those in 10.8/16 as they are.
  std::optional<core::IpAddress> at_provider(const core::IpAddress& address) const override;
  std::optional<kube::Object> service(std::string_view ns, std::string_view name) const override;
  bool is_known() const override { return true; }
};

/// Cluster "local-cluster" offloads to cluster "remote-cluster".
core::ForgingContext context(std::string local = "local-cluster");

kube::Object parse(std::string_view text);
kube::json::value parse_value(std::string_view text);

/// Sets a field that is not there.
void set_default(kube::json::object& fields, std::string_view key, kube::json::value value);

/// Objects of one kind, for the contract that every kind keeps (contract_test.cpp): a static object in the test of the
/// kind.
struct Samples {
  /// What an API server adds to an object: defaults, what it allocates, what its admission adds, the status. `stored`
  /// is `applied` without what is empty.
  using Store = void (*)(const kube::Object& applied, kube::Object& stored);

  /// `fields`: those that are particular to the kind, as people write them, for each of at least two objects.
  Samples(std::string_view kind, std::vector<std::string_view> fields, Store store = nullptr);
  Samples(const Samples&) = delete;
  Samples& operator=(const Samples&) = delete;

  const std::string_view kind;
  const std::vector<std::string_view> fields;
  const Store store;
};
/// The samples of a kind; nullptr = its test has none.
const Samples* samples_of(std::string_view kind);

/// What an API server stores of an object that is applied to it: without what is empty, and with what the samples of
/// the kind add.
kube::Object as_stored(const kube::Object& applied);

/// "Keep", "Refuse", "Remove", "Apply" or "Trim".
std::string name_of(const ReflectionPlan& plan);

/// One kind, reflected from namespace shop to its twin shop-r.
struct Reflection {
  const ReflectedKind& kind;
  core::ForgingContext ctx = context();
  SelectionPolicy policy = SelectionPolicy::deny_list;

  explicit Reflection(std::string_view name) : kind(*find_reflected_kind(name)) {}

  ReflectionPlan plan(const kube::Object* local, const kube::Object* remote) const;
  /// What is applied for an object that has no copy yet.
  kube::Object applied(const kube::Object& local) const;
  /// The copy of it at the provider.
  kube::Object copy(const kube::Object& local) const { return as_stored(applied(local)); }
  /// What becomes of the copy of the first object when the second takes its place.
  std::string change(const kube::Object& first, const kube::Object& second) const;
};

}  // namespace liqo::core::reflection
