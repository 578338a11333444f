// A request as the fake API server reads it: path and query taken apart.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/k8s/request.hpp"
#include "kube/testing/fake/status.hpp"
#include "kube/testing/fake/store.hpp"

namespace kube::testing {

struct FakeRequest {
  std::string method;
  FakeTable* table = nullptr;
  ObjectKey key;  ///< name empty: the collection
  std::string subresource;
  std::map<std::string, std::string> query;
  std::string content_type;
  bool metadata_only = false;  ///< the answer is to be a PartialObjectMetadata, or a list of them
  json::value body;

  std::string_view parameter(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? std::string_view() : std::string_view(found->second);
  }
  bool is_set(const std::string& name) const { return parameter(name) == "true" || parameter(name) == "1"; }
  bool dry_run() const { return parameter("dryRun") == "All"; }
};

/// What discovery says at a path: of /api and /apis which versions and groups there are, of /apis/GROUP its versions,
/// of /api/v1 and /apis/GROUP/VERSION what is served; nothing for any other path.
std::optional<json::object> discover(FakeStore& store, std::string_view target);

/// Errors: 404 for a path that names no served kind, 400 for a body that is not JSON.
Answer<FakeRequest> read_request(FakeStore& store, const HttpRequest& request);

}  // namespace kube::testing
