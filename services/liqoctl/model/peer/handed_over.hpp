// Objects that the other cluster's administrator hands over in a file: only what is theirs to say is taken. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

using kube::Object;

/// The ID of the cluster that the object is of. Errors: Errc::invalid_input where its spec has none.
kube::Result<std::string> cluster_of(const Object& given);

/// What is taken of an object that another cluster's administrator handed over, and what is left out.
struct Taken {
  Object object;
  std::vector<std::string> left_out;  ///< paths of fields, printable
};
/// The consumer's Tenant for this provider's tenant namespace `ns`: who it is, its key, request, signature and proxy.
/// Conditions, policies, labels and annotations are the provider's to set. Errors: Errc::invalid_input where it is of
/// no cluster.
kube::Result<Taken> tenant_to_admit(const Object& given, std::string_view ns);
/// The provider's Identity for this consumer's tenant namespace `ns`: who provides, and the credentials. Errors:
/// Errc::invalid_input where it is of no cluster.
kube::Result<Taken> identity_to_adopt(const Object& given, std::string_view ns);
/// One printable sentence about where the credentials lead, where that is not where those of `before` do; "" where
/// server and CA are the same.
std::string moved_credentials(const Object& before, const Object& wanted);

}  // namespace liqoctl::model
