// The headers of plain text, which is all that a kubelet answers beside JSON and metrics.
#pragma once

#include "kube/net/http_server.hpp"

namespace liqo::kubelet {

/// `more` and these. What a provider or a pod has written is in the text: no browser is to guess that it is something
/// else.
inline kube::net::ServerResponse::Headers plain_text_headers(kube::net::ServerResponse::Headers more = {}) {
  more.emplace_back("content-type", "text/plain; charset=utf-8");
  more.emplace_back("x-content-type-options", "nosniff");
  return more;
}

}  // namespace liqo::kubelet
