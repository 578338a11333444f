// Questions of an API server, made from little.
#pragma once

#include <string>
#include <string_view>

#include "core/admission/review.hpp"

namespace liqo::test {

using core::admission::Operation;
using core::admission::Request;
namespace json = kube::json;

inline kube::Object object_of(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

/// A CREATE by that user.
inline Request creating(std::string_view object, std::string user = "admin", std::vector<std::string> groups = {}) {
  Request request;
  request.uid = "1";
  request.object = object_of(object);
  request.ns = request.object.ns();
  request.name = request.object.name();
  request.user = {std::move(user), std::move(groups)};
  return request;
}

/// An UPDATE by that user.
inline Request updating(std::string_view before, std::string_view after, std::string user = "admin",
                        std::vector<std::string> groups = {}) {
  Request request = creating(after, std::move(user), std::move(groups));
  request.operation = Operation::update;
  request.old_object = object_of(before);
  return request;
}

}  // namespace liqo::test
