// Keeps objects that exist because of another one.
// Tested by test/unit/controllers/peering/identity_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>

#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// An object, and the one that it belongs to.
struct OwnedObject {
  const kube::Object& owner;
  kube::Object wanted;                      ///< created if there is none
  std::function<void(kube::Object&)> mend;  ///< adds the fields that an existing object lacks
  std::string name;                         ///< for the text of a failure, e.g. "the Renew"
};

/// The object that ensure_owned() would write; nothing if there is nothing to write.
std::optional<kube::Object> due_write(const kube::Informer& informer, const OwnedObject& object);

/// Creates the object, or replaces it if `mend` changes something; one that is being deleted is left to its end.
/// Returns false if the owner does not control the object of that name, which then stays as it is. `informer`
/// watches objects of that kind.
asio::awaitable<kube::Result<bool>> ensure_owned(kube::Api& api, kube::Informer& informer, OwnedObject object);

}  // namespace liqo::controllers
