// Reads objects that the other cluster's administrator hands over in a file. Only the fields that are theirs are taken.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

using kube::Object;

/// The ID of the cluster that the object belongs to. Errors: Errc::invalid_input if its spec has none.
kube::Result<std::string> cluster_of(const Object& given);

/// The part of a handed-over object that is taken, and the fields that are left out.
struct Taken {
  Object object;
  std::vector<std::string> left_out;  ///< paths of fields, printable
};
/// The consumer's Tenant for this provider's tenant namespace `ns`: who it is, its key, request, signature and proxy.
/// Conditions, policies, labels and annotations are the provider's to set. Errors: Errc::invalid_input if it names no
/// cluster.
kube::Result<Taken> tenant_to_admit(const Object& given, std::string_view ns);
/// The provider's Identity for this consumer's tenant namespace `ns`: who provides, and the credentials. Errors:
/// Errc::invalid_input if it names no cluster.
kube::Result<Taken> identity_to_adopt(const Object& given, std::string_view ns);
/// One printable sentence about the server and CA of the new credentials, if they differ from those of `before`; "" if
/// they are the same.
std::string moved_credentials(const Object& before, const Object& wanted);

}  // namespace liqoctl::model
