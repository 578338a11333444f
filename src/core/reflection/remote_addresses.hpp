// The addresses under which providers serve the copies of a Service or an Ingress, as an annotation at home shows them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// The most addresses of one provider, the bytes of its entry, and the bytes of the whole annotation: an address may be
/// a name of 253 characters, and no provider takes the room of all others.
inline constexpr std::size_t max_remote_addresses = 8, max_remote_entry_bytes = 1'024,
                             max_remote_addresses_bytes = 2'048;

/// The IP addresses and DNS names in `status.loadBalancer.ingress` of a copy, in order and without repetition; all else
/// there is left out. Of a Service only the type LoadBalancer has any. At most max_remote_addresses.
std::vector<std::string> addresses_given(const kube::Object& copy);

/// The value of the annotation `offloading.liqo.io/remote-addresses`: the addresses by the provider that gave them,
/// `{"milan": ["198.51.100.9"]}`.
class RemoteAddresses {
 public:
  /// Reads an annotation. Users can write it: what is no address or no cluster is left out, and so is all of a text
  /// that is no such value, or is larger than the annotation may be.
  static RemoteAddresses read(std::string_view text);

  /// The addresses of a provider; none if it has given none.
  const std::vector<std::string>& of(std::string_view cluster) const;
  /// Sets the addresses of a provider, as many as there is room for beside those of others; none removes its entry.
  void set(std::string_view cluster, const std::vector<std::string>& addresses);
  const std::map<std::string, std::vector<std::string>, std::less<>>& entries() const { return entries_; }
  /// The text of the annotation; "" if there are no addresses, and is to be none.
  std::string text() const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> entries_;
};

}  // namespace liqo::core::reflection
