// The answers of a provider that lies.
#pragma once

#include <cstddef>
#include <string>

#include "kube/k8s/request.hpp"

namespace liqo::bench {

struct Lie {
  int status = 200;
  std::string body;
};

/// The lies take turns by `number`: no JSON, another kind, objects of another namespace with impossible versions, a
/// version that is too old, no body, and a refusal of 256 KiB. A watch ends after any of them.
Lie lie_about(const kube::HttpRequest& request, std::size_t number);

}  // namespace liqo::bench
